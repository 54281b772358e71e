"""All SQL that this package sends, and the objects that it is written from.

Functions are called with named arguments, so that nothing depends on their order.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import Any
from uuid import uuid4

# The type, wherever the extension's schema is
TYPE_OIDS = """
SELECT t.oid, t.typarray, n.nspname
FROM pg_catalog.pg_extension e
JOIN pg_catalog.pg_depend d ON d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass
  AND d.refobjid = e.oid AND d.classid = 'pg_catalog.pg_type'::pg_catalog.regclass
JOIN pg_catalog.pg_type t ON t.oid = d.objid AND t.typname = 'signature'
JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
WHERE e.extname = 'neardup'
"""

MISSING = "the database has no extension neardup: CREATE EXTENSION neardup"

# The extension's schema, whether it is in the search path, that, and the client's encoding
SURROUNDINGS = """
SELECT pg_catalog.quote_ident(n.nspname), pg_catalog.pg_type_is_visible(t.oid),
  pg_catalog.current_setting('search_path'), pg_catalog.current_setting('client_encoding')
FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace
JOIN pg_catalog.pg_type t ON t.typnamespace = n.oid AND t.typname = 'signature'
WHERE e.extname = 'neardup'
"""

# Tables of the extension that may lie among the user's own: of no interest to migrations
OWN_TABLES = ("neardup_recorded_versions",)

# Comments of the two tables that near_duplicate_groups_create() makes: they follow a table
GROUPS_COMMENT = re.compile(
    "groups of near-duplicates in .|rows of .+ that have changed since its groups were refreshed",
    re.DOTALL,
)

# Guards of a table: triggers for each row without WHEN or column list; exclusion constraints
TABLE_GUARDS = """
SELECT t.tgname::text, pg_catalog.encode(t.tgargs, 'hex'), t.tgtype::int, t.tginitdeferred, NULL
FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_proc p ON p.oid = t.tgfoid
WHERE t.tgrelid = pg_catalog.to_regclass({table}) AND p.proname = 'neardup_guard'
  AND NOT t.tgisinternal AND t.tgparentid = 0 AND t.tgqual IS NULL AND t.tgattr = ''
  AND t.tgtype & 1 = 1
UNION ALL
SELECT c.conname::text, '', 0, c.condeferred, pg_catalog.pg_get_constraintdef(c.oid)
FROM pg_catalog.pg_constraint c
JOIN pg_catalog.pg_class i ON i.oid = c.conindid JOIN pg_catalog.pg_am a ON a.oid = i.relam
WHERE c.conrelid = pg_catalog.to_regclass({table}) AND c.contype = 'x'
  AND c.conparentid = 0 AND a.amname = 'neardup'
ORDER BY 1
"""


MODES = ("reject", "skip", "tag", "warn", "exclude")
BEFORE, INSERT_OR_UPDATE = 2, 4 | 16  # bits of pg_trigger.tgtype
WORD = re.compile(r"[a-z_][a-z0-9_]*")


def identifier(name: str) -> str:
    """Quote a name where it needs that."""
    return name if WORD.fullmatch(name) else '"' + name.replace('"', '""') + '"'


def quoted(name: str) -> str:
    """Quote a name."""
    return '"' + name.replace('"', '""') + '"'


def literal(value: Any) -> str:
    """Write a constant."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return "ARRAY[" + ", ".join(literal(v) for v in value) + "]"
    text = str(value)
    if "\0" in text:
        raise ValueError("a text of PostgreSQL has no character U+0000")
    escaped = text.replace("'", "''")
    return f"E'{escaped}'".replace("\\", "\\\\") if "\\" in text else f"'{escaped}'"


@dataclass(frozen=True)
class Maker:
    """The function that makes the signature of a document, with its arguments.

    ``Maker()`` is ``shingles(doc)``, ``Maker("english")`` has an analysis, and
    ``Maker("english", "minhash", size=64)`` is another function.
    """

    analysis: str = ""
    function: str = "shingles"
    arguments: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def of(cls, analysis: str = "", function: str = "shingles", **arguments: Any) -> "Maker":
        """Make one of keyword arguments: k=5, size=64."""
        unknown = [name for name in arguments if name != "k"]
        if function == "shingles" and unknown:
            raise TypeError(f"there is no argument {unknown[0]!r}; shingles have analysis and k")
        if not isinstance(arguments.get("k", 3), Integral):
            raise TypeError(f"k is a whole number, not {arguments['k']!r}")
        size = re.search(r"\bk=(\d+)", analysis)
        if size and function == "shingles":  # an argument of its own there, whose default is 3
            arguments.setdefault("k", int(size[1]))
        return cls(analysis, function, tuple(arguments.items()))

    def sql(self, doc: str) -> str:
        """Write the call as PostgreSQL shows it; doc is an expression."""
        parts = [doc]
        parts += [f"{identifier(name)} => {literal(value)}" for name, value in self.arguments]
        if self.analysis:
            parts.append(f"analysis => {literal(self.analysis)}::text")
        return f"{identifier(self.function)}({', '.join(parts)})"

    @property
    def measure(self) -> str:
        """The measure of its signatures: dense vectors have the cosine only."""
        return "cosine" if self.function == "dense" else "jaccard"

    def near(self, threshold: float) -> tuple[str, str]:
        """Write the similarity of rows a and b, and the condition that they are near."""
        a, b = self.sql("a.body"), self.sql("b.body")
        value = "cosine" if self.function == "dense" else "similarity"
        condition = f"near_duplicate({a}, {b}, {float(threshold)!r}, {literal(self.measure)})"
        return f"{value}({a}, {b})", condition


@dataclass(frozen=True)
class Guard:
    """What keeps near-duplicates out of a table: a trigger, or an exclusion constraint.

    mode is reject, skip, tag (needs the column to tag), warn, or exclude (an exclusion
    constraint by an index of access method neardup).  Rows are compared that are equal in
    the columns of scope, and for which the condition is true, in SQL of the rows new and old:
    "new.author = old.author".  measure is jaccard or cosine, which embeddings have.
    column may be an index, see neardup's doc/guard.md.
    """

    column: str
    threshold: float = 0.8
    mode: str = "reject"
    scope: tuple[str, ...] = ()
    tag: str | None = None
    name: str = "no_near_duplicates"
    deferred: bool = False
    condition: str | None = None
    measure: str = "jaccard"

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ValueError(f"mode of a guard is one of {', '.join(MODES)}, not {self.mode!r}")
        if (self.mode == "tag") != (self.tag is not None):
            raise ValueError("mode tag needs the column to tag, and no other mode has one")
        if self.mode == "exclude" and self.scope:
            raise ValueError("an exclusion constraint has no scope; use mode reject")
        if self.mode == "exclude" and self.condition is not None:
            raise ValueError("an exclusion constraint has no condition; use mode reject")
        if self.mode == "exclude" and self.measure != "jaccard":
            raise ValueError("an exclusion constraint has no measure; use mode reject")
        if self.deferred and self.mode not in ("reject", "exclude"):
            raise ValueError("only modes reject and exclude can be deferred")

    @property
    def arguments(self) -> list[str]:
        """The arguments of the trigger."""
        found = [self.column, repr(float(self.threshold))]
        found += [self.mode] if self.mode != "reject" else []
        found += [self.tag] if self.tag is not None else []
        found += ["measure", self.measure] if self.measure != "jaccard" else []
        found += ["if", self.condition] if self.condition is not None else []
        return found + (["within", *self.scope] if self.scope else [])

    def create(self, table: str) -> str:
        """Write the statement that creates it; table is quoted."""
        deferred = " DEFERRABLE INITIALLY DEFERRED" if self.deferred else ""
        if self.mode == "exclude":
            value = f"signature_query({identifier(self.column)}, {self.threshold!r})"
            return (
                f"ALTER TABLE {table} ADD CONSTRAINT {quoted(self.name)}"
                f" EXCLUDE USING neardup ({value} WITH %%){deferred}"
            )
        kind, time = (
            ("CONSTRAINT TRIGGER", "AFTER") if self.mode == "reject" else ("TRIGGER", "BEFORE")
        )
        arguments = ", ".join(literal(a) for a in self.arguments)
        return (
            f"CREATE {kind} {quoted(self.name)} {time} INSERT OR UPDATE ON {table}{deferred}"
            f" FOR EACH ROW EXECUTE FUNCTION neardup_guard({arguments})"
        )

    def drop(self, table: str) -> str:
        """Write the statement that drops it."""
        if self.mode == "exclude":
            return f"ALTER TABLE {table} DROP CONSTRAINT {quoted(self.name)}"
        return f"DROP TRIGGER {quoted(self.name)} ON {table}"


@dataclass(frozen=True)
class KeptGroups:
    """A table of groups that follows a table, by near_duplicate_groups_create()."""

    name: str
    key: str = "id"
    column: str = "sig"
    threshold: float = 0.8
    measure: str = "jaccard"
    rule: str = "greedy"
    scope: tuple[str, ...] = ()
    refresh: str = "deferred"

    def create(self, table: str) -> str:
        """Write the statement that makes it; table is quoted."""
        scope = f"{literal(self.scope)}::name[]" if self.scope else "'{}'"
        return (
            f"SELECT near_duplicate_groups_create({literal(self.name)}, {literal(table)},"
            f" {literal(self.key)}, {literal(self.column)}, {float(self.threshold)!r},"
            f" measure => {literal(self.measure)}, rule => {literal(self.rule)},"
            f" within => {scope}, refresh => {literal(self.refresh)})"
        )

    def drop(self) -> str:
        """Write the statement that drops it."""
        return f"SELECT near_duplicate_groups_drop({literal(self.name)})"

    def refresh_now(self) -> str:
        """Write the statement that groups the rows that changed."""
        return f"CALL near_duplicate_groups_refresh({literal(self.name)})"


EXCLUSION = re.compile(
    r"EXCLUDE USING neardup \(signature_query\((?P<column>\w+|\"(?:[^\"]|\"\")+\"),"
    r" \(?'?(?P<threshold>[\d.]+)'?\)?(?:::[a-z ]+)?\) WITH (?:\w+\.|OPERATOR\(\w+\.)?%%\)?\)"
    r"(?: DEFERRABLE INITIALLY DEFERRED)?"
)


def read_guards(rows: Any) -> list[Guard]:
    """Read the rows of TABLE_GUARDS; those that Guard cannot express are left out."""
    return [guard for guard in map(_read_guard, rows) if guard is not None]


def _read_guard(row: Any) -> Guard | None:
    name, arguments, kind, deferred, definition = row
    if definition is not None:
        match = EXCLUSION.fullmatch(definition)
        if match is None:
            return None
        column = match["column"]
        if column.startswith('"'):
            column = column[1:-1].replace('""', '"')
        return Guard(column, float(match["threshold"]), "exclude", name=name, deferred=deferred)
    column, threshold, *rest = bytes.fromhex(arguments).decode().removesuffix("\0").split("\0")
    scope: tuple[str, ...] = ()
    if "within" in rest:
        at = rest.index("within")
        scope, rest = tuple(rest[at + 1 :]), rest[:at]
    condition = None
    if "if" in rest:
        at = rest.index("if")
        condition, rest = rest[at + 1], rest[:at]
    measure = "jaccard"
    if rest[-2:-1] == ["measure"]:
        measure, rest = rest[-1].lower(), rest[:-2]
    mode = rest[0] if rest else "reject"
    tag = rest[1] if len(rest) > 1 else None
    is_before, events = bool(kind & BEFORE), kind & (4 | 8 | 16)
    if is_before == (mode == "reject") or events != INSERT_OR_UPDATE:
        return None
    return Guard(column, float(threshold), mode, scope, tag, name, deferred, condition, measure)


# Texts that are compared in tables of their own, which a rollback removes


def texts_table(name: str, private: bool) -> str:
    """Name a table of texts as no other is named.

    In a database of one's own it is not temporary, so that several processes read it.
    """
    return f"{'public' if private else 'pg_temp'}.neardup_{name}_{uuid4().hex}"


def create_texts(table: str, scoped: bool = False, of: str = "text") -> str:
    """Write the statement that creates the table of texts, or of vectors, each with a scope."""
    return _create(table, f"id int NOT NULL, body {of}" + (", scope text" if scoped else ""))


def create_pairs(table: str, pairs: Iterable[tuple[int, int]]) -> list[str]:
    """Write the statements that create a table of pairs of texts, with these pairs."""
    rows = ", ".join(f"({int(a)}, {int(b)})" for a, b in pairs)
    create = _create(table, "a int NOT NULL, b int NOT NULL, added boolean DEFAULT false")
    return [create, f"INSERT INTO {table} VALUES {rows}"] if rows else [create]


def forget_added(pairs: str) -> str:
    """Write the statement that deletes the pairs that `add_apart` added."""
    return f"DELETE FROM {pairs} WHERE added"


def add_apart(query: str, threshold: float, pairs: str, measure: str) -> str:
    """Write the statement that keeps a text out of each group with a pair that is apart.

    It adds the pair of the group's representative and of the text that is in most such pairs,
    or else is the least similar, and returns a row for each.
    """
    groups = group_rows("id, representative, similarity", query, threshold, pairs, measure)
    return (
        f"WITH g AS MATERIALIZED ({groups}) INSERT INTO {pairs}"
        " SELECT DISTINCT ON (x.representative) x.representative, x.id, true"
        f" FROM (SELECT a, b FROM {pairs} UNION ALL SELECT b, a FROM {pairs}) p"
        " JOIN g x ON x.id = p.a JOIN g y ON y.id = p.b AND y.representative = x.representative"
        " GROUP BY x.representative, x.id, x.similarity"
        " ORDER BY x.representative, count(*) DESC, x.similarity, x.id DESC RETURNING 1"
    )


def _create(table: str, columns: str) -> str:
    kind = "TEMPORARY" if table.startswith("pg_temp.") else "UNLOGGED"
    return f"CREATE {kind} TABLE {table.split('.')[1]} ({columns})"


def group_rows(columns: str, query: str, threshold: float, apart: str | None, measure: str) -> str:
    """Write the query of the groups of what another query gives, but of a table of pairs."""
    but = "" if apart is None else f", apart => {literal(f'SELECT a, b FROM {apart}')}"
    return (
        f"SELECT {columns} FROM near_duplicate_groups(query => {literal(query)},"
        f" threshold => {float(threshold)!r}, measure => {literal(measure)}{but})"
    )


def single_rows(columns: str, table: str) -> str:
    """Write a query as `group_rows` does, in which each text of a table is a group by itself."""
    return (
        f"SELECT {columns} FROM (SELECT id, row_number() OVER (ORDER BY id) AS group_id,"
        f" id AS representative, NULL::float8 AS similarity, 1 AS size FROM {table}) g"
    )


GROUP_COUNTS = (
    "count(*) FILTER (WHERE id = representative AND size > 1),"
    " count(*) FILTER (WHERE id <> representative), coalesce(max(size), 0)"
)


def take_out_near(table: str, pairs: str, gone: str) -> list[str]:
    """Write the statements that move texts that are near one of another table to a table gone.

    Its columns are the text, the nearest of the others, and the value of the two; pairs is a
    query of all pairs.
    """
    kind = "TEMPORARY" if gone.startswith("pg_temp.") else "UNLOGGED"
    best = f"SELECT DISTINCT ON (a) a, b, value FROM ({pairs}) p ORDER BY a, value DESC, b"
    return [
        f"CREATE {kind} TABLE {gone.split('.')[1]} AS {best}",
        f"DELETE FROM {table} USING {gone} WHERE id = a",
    ]


def text_pairs(table: str, maker: Maker, threshold: float) -> str:
    """Write the query of all pairs of texts of a table."""
    value, condition = maker.near(threshold)
    return (
        f"SELECT a.id AS a, b.id AS b, {value} AS value FROM {table} a"
        f" JOIN {table} b ON {condition} AND a.id < b.id"
    )


def pairs_with(
    table: str, others: str, maker: Maker, threshold: float, contained: float | None
) -> str:
    """Write the query of pairs of a text and a near one of another table.

    With ``contained`` the text has that share of the other text's shingles.
    """
    value, condition = maker.near(threshold)
    if contained is not None:
        a, b = maker.sql("a.body"), maker.sql("b.body")
        value, condition = f"containment({b}, {a})", f"contained_in({b}, {a}, {float(contained)!r})"
    return (
        f"SELECT a.id AS a, b.id AS b, {value} AS value FROM {table} a JOIN {others} b"
        f" ON {condition}"
    )
