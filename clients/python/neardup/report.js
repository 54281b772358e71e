"use strict";
const earlier = JSON.parse(document.getElementById("earlier").textContent);
const pair = row => JSON.stringify(row.slice(0, 2).sort());
const known = new Map(earlier.map(row => [pair(row), row[2]]));
for (const { dataset, elements } of document.querySelectorAll("fieldset"))
    for (const input of elements)
        input.checked = input.value === known.get(pair([dataset.a, dataset.b]));
const verdicts = () => {
    const now = [...document.querySelectorAll("input:checked")].map(input => {
        const { a, b } = input.closest("fieldset").dataset;
        return [a, b, input.value];
    });
    const judged = new Set(now.map(pair));
    return [...earlier.filter(row => !judged.has(pair(row))), ...now];
};
const field = value => /[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
const csv = () => ["a,b,same", ...verdicts().map(row => row.map(field).join(","))].join("\n") + "\n";
const count = () => {
    const rows = verdicts(), apart = rows.filter(row => row[2] === "false").length;
    document.getElementById("count").textContent =
        `${rows.length} verdicts, ${apart} of them not the same`;
    document.getElementById("download").disabled = rows.length === 0;
};
document.addEventListener("change", count);
document.getElementById("download").addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([csv()], { type: "text/csv" }));
    link.download = "verdicts.csv";
    link.click();
    URL.revokeObjectURL(link.href);
});
count();
