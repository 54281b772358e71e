"""SQLAlchemy and Alembic: models, queries, reflection, and a round trip by migrations."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata, produce_migrations, render_python_code
from alembic.config import Config
from alembic.migration import MigrationContext
from conftest import TEXTS, execute
from sqlalchemy import Index, MetaData, Table, create_engine, event, exc, inspect, select, text
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, aliased, mapped_column

import neardup
import neardup.alembic
from neardup import sql
from neardup.sqlalchemy import (
    Guard,
    NearDuplicateError,
    Signature,
    raise_near_duplicates,
    signature,
    signature_column,
)

DRIVERS = ("psycopg", "psycopg2", "pg8000", "asyncpg")


class Base(DeclarativeBase):
    pass


class Doc(Base):
    __tablename__ = "docs"
    __table_args__ = (
        Index("docs_sig", "sig", postgresql_using="neardup"),
        Guard("sig", 0.8, scope=["tenant"]),
    )
    __mapper_args__ = {"eager_defaults": False}
    id: Mapped[int] = mapped_column(primary_key=True)
    tenant: Mapped[int] = mapped_column(default=1)
    body: Mapped[str]
    sig: Mapped[neardup.Signature | None] = signature_column("body", "english stop", k=2)


class Page(Base):
    __tablename__ = "pages"
    __table_args__ = (
        Index("pages_sig", "sig", postgresql_using="gin", postgresql_with={"fastupdate": "off"}),
        Guard("sig", 0.6, "exclude", name="no_copies"),
        Guard("sig", 0.9, "skip", name="skip_copies"),
        Guard("sig", 0.9, "tag", tag="same_as", name="tag_copies"),
        {"schema": "Web Site"},
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    same_as: Mapped[int | None]
    body: Mapped[str]
    sig: Mapped[neardup.Signature | None] = signature_column("body")


def url(database, driver="psycopg"):
    host, port = os.environ["PGHOST"], os.environ.get("PGPORT", "5432")
    user = os.environ.get("PGUSER", "postgres")
    where = f"unix_sock={host}/.s.PGSQL.{port}" if driver == "pg8000" else f"host={host}&port={port}"
    return f"postgresql+{driver}://{user}@/{database}?{where}"


@pytest.fixture
def engine(database):
    engine = create_engine(url(database))
    execute(f"dbname={database}", 'CREATE SCHEMA IF NOT EXISTS "Web Site"')
    yield engine
    Base.metadata.drop_all(engine)
    engine.dispose()


@pytest.fixture
def session(engine):
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        session.add_all([Doc(body=TEXTS[0]), Doc(body=TEXTS[1])])
        session.commit()
        yield session


def test_queries(session):
    near = Doc.sig.near
    assert session.scalars(select(Doc.id).where(near(TEXTS[2], 0.8))).all() == [1]
    other = signature(TEXTS[2], "english stop", k=2)
    assert session.scalars(select(Doc.id).where(near(other))).all() == [1]
    sig = session.scalars(select(Doc.sig).where(Doc.id == 1)).one()
    assert isinstance(sig, neardup.Signature)
    assert session.scalars(select(Doc.id).where(near(sig))).all() == [1]
    assert session.scalars(select(Doc.id).where(Doc.sig == sig)).all() == [1]
    query = select(Doc.id, Doc.sig.distance(TEXTS[1])).order_by(Doc.sig.distance(TEXTS[1]))
    assert session.execute(query).all() == [(2, 0.0), (1, 1.0)]
    query = select(Doc.sig.similarity(sig), Doc.sig.containment(sig), Doc.sig.intersection_size(sig))
    assert session.execute(query.where(Doc.id == 1)).all() == [(1.0, 1.0, len(sig))]
    assert session.scalars(select(Doc.id).where(Doc.sig.contained_in(sig, 1.0))).all() == [1]
    other = aliased(Doc)
    pairs = select(Doc.id, other.id).where(Doc.sig.near(other.sig, 0.1, "dice"), Doc.id < other.id)
    assert session.execute(pairs).all() == []


def test_a_text_needs_a_maker(session):
    reflected = Table("docs", MetaData(), autoload_with=session.connection())
    with pytest.raises(exc.ArgumentError, match="signature_column"):
        reflected.c.sig.near("a text")


def test_signature_is_not_fetched(session):
    statements = []
    event.listen(session.bind, "before_cursor_execute", lambda *a: statements.append(a[2]))
    session.add(Doc(body="Of this nobody has heard either, we are told by those who know."))
    session.commit()
    doc = session.scalars(select(Doc).where(Doc.id == 3)).one()
    assert doc.body.startswith("Of this")
    assert "sig" not in doc.__dict__
    assert not any("sig" in statement for statement in statements)
    assert doc.sig.spec == "shingles[english stop k=2]"


def test_errors(session):
    session.add(Doc(body=TEXTS[2]))
    with pytest.raises(exc.IntegrityError) as caught:
        session.commit()
    assert neardup.near_duplicate_error(caught.value).key == "1"
    session.rollback()
    raise_near_duplicates(session.get_bind())
    session.add(Doc(body=TEXTS[2]))
    with pytest.raises(exc.IntegrityError) as caught:
        session.commit()
    error = caught.value
    assert isinstance(error, NearDuplicateError)
    assert (error.key, error.table, error.constraint) == ("1", "docs", "no_near_duplicates")
    assert error.similarity > 0.8
    session.rollback()
    session.add(Doc(id=1, body="Another text, whose key is there already."))
    with pytest.raises(exc.IntegrityError) as caught:
        session.commit()
    assert not isinstance(caught.value, NearDuplicateError)
    session.rollback()
    session.add(Doc(body=TEXTS[2], tenant=2))
    session.commit()


def test_exclusion_constraint(session):
    session.add(Page(body=TEXTS[0]))
    session.commit()
    session.add(Page(body="Yes: the quick brown fox jumps over the lazy dog while the cat sleeps."))
    with pytest.raises(exc.IntegrityError) as caught:
        session.commit()
    assert neardup.near_duplicate_error(caught.value).constraint == "no_copies"


def test_every_driver(session, database):
    session.commit()
    for driver in DRIVERS[:3]:
        engine = create_engine(url(database, driver))
        with Session(engine) as other:
            sig = other.scalars(select(Doc.sig).where(Doc.id == 1)).one()
            assert isinstance(sig, neardup.Signature), driver
            assert other.scalars(select(Doc.id).where(Doc.sig.near(sig, 0.9))).all() == [1], driver
            assert other.scalars(select(Doc.id).where(Doc.sig.near(TEXTS[2]))).all() == [1], driver
            other.add(Doc(body=TEXTS[2]))
            with pytest.raises(exc.DBAPIError) as caught:
                other.commit()
            assert neardup.near_duplicate_error(caught.value).key == "1", driver
        engine.dispose()


def test_asyncpg(session, database):
    import asyncio

    from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine

    session.commit()

    async def main():
        engine = create_async_engine(url(database, "asyncpg"))
        async with AsyncSession(engine) as other:
            sig = (await other.scalars(select(Doc.sig).where(Doc.id == 1))).one()
            assert isinstance(sig, neardup.Signature)
            assert (await other.scalars(select(Doc.id).where(Doc.sig.near(sig)))).all() == [1]
            assert (await other.scalars(select(Doc.id).where(Doc.sig.near(TEXTS[2])))).all() == [1]
            other.add(Doc(body=TEXTS[2]))
            with pytest.raises(exc.IntegrityError) as caught:
                await other.commit()
            assert neardup.near_duplicate_error(caught.value).key == "1"
        await engine.dispose()

    asyncio.run(main())


def test_reflection(session):
    columns = {c["name"]: c for c in inspect(session.get_bind()).get_columns("docs")}
    assert isinstance(columns["sig"]["type"], Signature)


# Alembic

ENV = """
from alembic import context
from sqlalchemy import create_engine
import neardup.alembic
import test_sqlalchemy as models

with create_engine(context.config.get_main_option("sqlalchemy.url")).connect() as connection:
    context.configure(connection=connection, target_metadata=models.Base.metadata,
                      include_schemas=True, include_object=neardup.alembic.include_object)
    with context.begin_transaction():
        context.run_migrations()
    connection.commit()
"""


def migrations(connection, metadata):
    options = {"include_schemas": True, "include_object": neardup.alembic.include_object}
    context = MigrationContext.configure(connection, opts=options)
    return context, compare_metadata(context, metadata)


def guards(connection):
    return connection.execute(
        text("SELECT conname FROM pg_constraint WHERE contype = 'x' UNION ALL SELECT tgname"
             " FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1")
    ).scalars().all()  # fmt: skip


ALL = ["no_copies", "no_near_duplicates", "skip_copies", "tag_copies"]


def test_models_to_migration_to_database(engine, tmp_path, monkeypatch):
    """Models, a migration written and run by Alembic's command, nothing left; and back again."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    config = Config(str(tmp_path / "alembic.ini"))
    config.set_main_option("script_location", str(tmp_path / "migrations"))
    config.set_main_option("sqlalchemy.url", str(engine.url).replace("%", "%%"))
    command.init(config, str(tmp_path / "migrations"))
    (tmp_path / "migrations" / "env.py").write_text(ENV)
    command.revision(config, "first", autogenerate=True)
    written = next((tmp_path / "migrations" / "versions").glob("*_first.py")).read_text()
    assert "op.create_guard('docs', 'sig', 0.8, scope=['tenant'], name='no_near_duplicates')" in written
    assert "neardup.sqlalchemy.Signature()" in written
    assert "neardup_recorded_versions" not in written
    command.upgrade(config, "head")
    with engine.connect() as connection:
        assert guards(connection) == ALL
        assert migrations(connection, Base.metadata)[1][1:] == []  # the first: alembic_version
    command.downgrade(config, "base")
    with engine.connect() as connection:
        assert guards(connection) == []
        assert not inspect(connection).has_table("docs")
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE alembic_version"))


def test_autogenerate_finds_nothing(engine):
    Base.metadata.create_all(engine)
    with engine.connect() as connection:
        assert guards(connection) == ALL
        assert migrations(connection, Base.metadata)[1] == []


def test_a_changed_guard(engine):
    Base.metadata.create_all(engine)
    with engine.begin() as connection:
        connection.execute(text("DROP TRIGGER no_near_duplicates ON docs"))
        connection.execute(text(
            "CREATE TRIGGER strange BEFORE INSERT ON docs FOR EACH ROW WHEN (new.id > 1)"
            " EXECUTE FUNCTION neardup_guard('sig', '0.5', 'warn')"))  # fmt: skip
        connection.execute(text(
            "CREATE TRIGGER old BEFORE INSERT OR UPDATE ON docs FOR EACH ROW"
            " EXECUTE FUNCTION neardup_guard('sig', '0.5', 'warn', 'within', 'tenant')"))  # fmt: skip
        context, _ = migrations(connection, Base.metadata)
        found = produce_migrations(context, Base.metadata)
        code = render_python_code(found.upgrade_ops)
        assert [line.strip() for line in code.splitlines() if "guard" in line] == [
            "op.drop_guard('docs', 'sig', 0.5, mode='warn', scope=['tenant'], name='old')",
            "op.create_guard('docs', 'sig', 0.8, scope=['tenant'], name='no_near_duplicates')",
        ]


def test_without_include_object_the_extension_s_table_is_dropped(engine):
    """Alembic without include_object, and the need for it."""
    with engine.connect() as connection:
        context = MigrationContext.configure(connection)
        dropped = [d[1].name for d in compare_metadata(context, MetaData()) if d[0] == "remove_table"]
    assert dropped in (["neardup_recorded_versions"], [])


def test_alembic_is_not_needed_for_sqlalchemy():
    code = "import neardup.sqlalchemy, sys; sys.exit('alembic' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_condition_and_kept_groups(engine):
    """A guard's condition, and groups that follow a table, read as a class."""
    from neardup.sqlalchemy import kept_groups, refresh_groups

    class Base(DeclarativeBase):
        pass

    class Alert(Base):
        __tablename__ = "alerts 100%"
        __mapper_args__ = {"eager_defaults": False}
        __table_args__ = (
            Index("alerts_sig", "sig", postgresql_using="neardup"),
            Guard("sig", 0.8, condition="new.author = old.author AND new.author <> 'o''neil 5%'"),
            Guard("sig", 0.9, "warn", ["id"], name="by_cosine", condition="false", measure="cosine"),
        )
        id: Mapped[int] = mapped_column(primary_key=True)
        author: Mapped[str]
        body: Mapped[str]
        sig: Mapped[neardup.Signature | None] = signature_column("body")

    class AlertGroup(Base):
        __table__ = kept_groups(Alert, "alert_groups", 0.7, scope=["author"], rule="connected")

    Base.metadata.create_all(engine)
    raise_near_duplicates(engine)
    with Session(engine) as session:
        session.add_all([Alert(id=n, author=a, body=TEXTS[0]) for n, a in enumerate(["x", "y", "o'neil 5%", "o'neil 5%"])])
        session.commit()
        session.add(Alert(id=9, author="x", body=TEXTS[2]))
        with pytest.raises(NearDuplicateError):
            session.commit()
        session.rollback()
        refresh_groups(session, AlertGroup)
        rows = session.execute(select(AlertGroup.id, AlertGroup.representative).order_by(AlertGroup.id)).all()
        assert rows == [(0, 0), (1, 1), (2, 2), (3, 2)]
        query = select(Alert.id).join(AlertGroup, AlertGroup.id == Alert.id).where(AlertGroup.representative == 2)
        assert sorted(session.scalars(query)) == [2, 3]
    with engine.connect() as connection:
        guards = sql.read_guards(connection.execute(text(sql.TABLE_GUARDS.format(table=":t")), {"t": '"alerts 100%"'}))
        # Alembic leaves their tables alone, which these models do not have
        assert migrations(connection, Base.metadata)[1] == []
    assert guards == [
        sql.Guard("sig", 0.9, "warn", ("id",), name="by_cosine", condition="false", measure="cosine"),
        sql.Guard("sig", 0.8, condition="new.author = old.author AND new.author <> 'o''neil 5%'"),
    ]
    Base.metadata.drop_all(engine)
    Base.metadata.create_all(engine)
    Base.metadata.drop_all(engine)
    with pytest.raises(ValueError, match="has no condition"):
        Guard("sig", mode="exclude", condition="true")
