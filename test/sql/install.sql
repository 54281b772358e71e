--
-- The extension's objects in the catalogs
--

\set regression :DBNAME
CREATE DATABASE neardup_install;
\connect neardup_install
CREATE EXTENSION neardup;

-- Every member object, to be joined with its catalog.  Array types and row types are
-- members from PostgreSQL 17 on, and need no comment.
CREATE TEMP VIEW member AS
SELECT d.classid, d.objid, o.type, o.schema, o.identity
FROM pg_depend d
CROSS JOIN pg_identify_object(d.classid, d.objid, d.objsubid) o
WHERE d.deptype = 'e' AND d.refclassid = 'pg_extension'::regclass
  AND d.refobjid =
      (SELECT oid FROM pg_extension WHERE extname = 'neardup')
  AND o.identity NOT LIKE '%[]'
  AND NOT (d.classid = 'pg_type'::regclass AND d.objid IN
           (SELECT oid FROM pg_type WHERE typrelid <> 0));
CREATE TEMP VIEW member_function AS
SELECT p.*, oid::regprocedure AS name
FROM pg_proc p
WHERE oid IN (SELECT objid FROM member WHERE classid = 'pg_proc'::regclass);

SELECT type, count(*) > 0 AS some FROM member GROUP BY type
ORDER BY type COLLATE "C";

-- Operator classes
SELECT opcname, amname, amvalidate(c.oid)
FROM pg_opclass c JOIN pg_am a ON a.oid = c.opcmethod
WHERE c.oid IN
      (SELECT objid FROM member WHERE classid = 'pg_opclass'::regclass)
ORDER BY opcname COLLATE "C", amname COLLATE "C";

-- Functions: none is unsafe in parallel queries ...
SELECT name FROM member_function WHERE proparallel <> 's'
ORDER BY name::text COLLATE "C";
-- ... only these are called for null arguments
SELECT name FROM member_function WHERE NOT proisstrict
ORDER BY name::text COLLATE "C";
-- ... and only these depend on more than their arguments
SELECT name, provolatile FROM member_function WHERE provolatile <> 'i'
ORDER BY name::text COLLATE "C";
-- All but these are in C, and in this library
SELECT name FROM member_function
WHERE prokind = 'f'
  AND (prolang <> (SELECT oid FROM pg_language WHERE lanname = 'c')
       OR probin <> '$libdir/neardup')
ORDER BY name::text COLLATE "C";
-- A condition on signatures that costs something is known to the planner
SELECT name FROM member_function
WHERE prorettype = 'boolean'::regtype AND procost > 1 AND prosupport = 0
ORDER BY name::text COLLATE "C";
-- Functions that read a document or an array are not cheap
SELECT name, procost FROM member_function
WHERE procost <= 1 AND prorettype = 'signature'::regtype
  AND proargtypes::oid[] && '{text, bigint[]}'::regtype[]::oid[]
ORDER BY name::text COLLATE "C";

-- Operators: those that return true or false have estimators
SELECT identity, oprrest, oprjoin
FROM pg_operator JOIN member ON objid = oid
WHERE classid = 'pg_operator'::regclass
  AND oprresult = 'boolean'::regtype AND (oprrest = 0 OR oprjoin = 0)
ORDER BY identity COLLATE "C";
-- and those between two of a kind have a commutator, but for the difference
SELECT identity
FROM pg_operator JOIN member ON objid = oid
WHERE classid = 'pg_operator'::regclass
  AND oprleft = oprright AND oprcom = 0
ORDER BY identity COLLATE "C";
-- This cast is the only implicit one: without it no operator class of the type of keys
-- accepts a query, as that type has only input and output
SELECT castsource::regtype, casttarget::regtype, castcontext
FROM pg_cast
WHERE oid IN (SELECT objid FROM member WHERE classid = 'pg_cast'::regclass)
  AND castcontext = 'i';

-- Every object has a comment
SELECT type, identity FROM member
WHERE coalesce(obj_description(objid, classid::regclass::name), '') = ''
ORDER BY type COLLATE "C", identity COLLATE "C";

-- Everything is in the extension's schema
SELECT DISTINCT schema FROM member WHERE schema IS NOT NULL;

-- Dropping it leaves nothing
DROP VIEW member_function, member;
DROP EXTENSION neardup;
SELECT count(*) FROM pg_proc WHERE probin LIKE '%neardup%';
SELECT count(*) FROM pg_type WHERE typname LIKE '%signature%';
\connect :regression
DROP DATABASE neardup_install;
