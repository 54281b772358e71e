"""A model of SQLAlchemy whose table has a guard; texts are compared by a column's own function."""

from sqlalchemy import Index, create_engine, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

import neardup
from neardup.sqlalchemy import Guard, NearDuplicateError, raise_near_duplicates, signature_column


class Base(DeclarativeBase):
    pass


class Saying(Base):
    __tablename__ = "sayings"
    __mapper_args__ = {"eager_defaults": False}
    __table_args__ = (Index("sayings_sig", "sig", postgresql_using="neardup"), Guard("sig", 0.8))
    id: Mapped[int] = mapped_column(primary_key=True)
    body: Mapped[str]
    sig: Mapped[neardup.Signature | None] = signature_column("body")


engine = create_engine("postgresql+psycopg://")
raise_near_duplicates(engine)
Base.metadata.create_all(engine)
try:
    with Session(engine) as session:
        session.add(Saying(body="To be or not to be, that is the question."))
        session.commit()
        print(session.scalars(select(Saying.id).where(Saying.sig.near("to be or not to be, that is the question"))).all())
        session.add(Saying(body="To be, or not to be: that is the question!"))
        session.commit()
except NearDuplicateError as error:
    print(error.key, error.similarity)
finally:
    Base.metadata.drop_all(engine)

# Prints:
# [1]
# 1 1.0
