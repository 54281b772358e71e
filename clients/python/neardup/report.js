"use strict";
const verdicts = () => [...document.querySelectorAll("input:checked")]
    .map(input => input.closest("fieldset").dataset)
    .map(pair => [pair.a, pair.b, document.querySelector(
        `input[name="${pair.name}"]:checked`).value]);
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
