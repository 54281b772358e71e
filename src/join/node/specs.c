/*
 * specs.c
 *		The specs of the signatures that a join has read.
 *
 * They are numbered as they are met, and each row carries its number.  Most joins
 * meet one; makings_check.c says what becomes of several.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/node/specs.c
 */
#include "postgres.h"

#include "utils/hsearch.h"

#include "signature/signature.h"
#include "join/node/join_node.h"
#include "signature/sql/near.h"
#include "document/recorded_versions.h"
#include "methods/spec_name.h"
#include "methods/sketches/lsh.h"

/* A spec, in the table of those that were met. */
typedef struct NumberedSpec
{
	SignatureSpec		spec;			/* hash key */
	uint32		number;			/* from 1 */
	SignatureKind kind;			/* if not refused */
	bool		refused;		/* no two signatures can be compared */
} NumberedSpec;

struct SpecList
{
	uint32		n;				/* specs met */
	uint32		first[2];		/* by JoinSide: the first one; 0: none */
	NumberedSpec *last;		/* met last */
	Bitmapset  *refused;		/* numbers of those that are refused */
	Bitmapset  *sides[2];		/* of these, by JoinSide: those that it has */
	HTAB	   *table;			/* of NumberedMaking */
};

/* No specs as yet, in the current memory context. */
SpecList *
specs_begin(void)
{
	SpecList    *specs = palloc0(sizeof(SpecList));
	HASHCTL		ctl = {0};

	ctl.keysize = sizeof(SignatureSpec);
	ctl.entrysize = sizeof(NumberedSpec);
	ctl.hcxt = CurrentMemoryContext;
	specs->table = hash_create("specs of a similarity join", 16, &ctl,
								 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	return specs;
}

/* Fills in what there is to know about a spec that was not met before. */
static void
add_spec(SpecList *specs, NumberedSpec *entry, const Signature *sig,
		   Measure measure, bool approx)
{
	const MethodInfo *method = method_info(sig->spec.method);
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(specs));

	recorded_versions_check_spec(&sig->spec);
	entry->number = ++specs->n;
	entry->refused = approx ? !approx_takes(method) :
		!measure_is_told(method, measure);
	if (entry->refused)
		specs->refused = bms_add_member(specs->refused, entry->number);
	else
		entry->kind = signature_kind(sig, measure);
	MemoryContextSwitchTo(old);
}

/*
 * Notes the spec of a signature of that side; returns its number, from 1.
 */
uint32
specs_note(SpecList *specs, JoinSide side, const Signature *sig,
			 Measure measure, bool approx)
{
	if (specs->last == NULL ||
		!spec_equal(&specs->last->spec, &sig->spec))
	{
		bool		found;

		specs->last = hash_search(specs->table, &sig->spec, HASH_ENTER,
									&found);
		if (!found)
			add_spec(specs, specs->last, sig, measure, approx);
	}
	if (specs->first[side] == NO_SPEC)
		specs->first[side] = specs->last->number;
	if (specs->last->refused)
	{
		MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(specs));

		specs->sides[side] = bms_add_member(specs->sides[side],
											specs->last->number);
		MemoryContextSwitchTo(old);
	}
	return specs->last->number;
}

/*
 * True if signatures of the spec that was noted last cannot be compared, even
 * with each other.
 */
bool
specs_last_refused(const SpecList *specs)
{
	return specs->last->refused;
}

/* The kind of the signature that was noted last, if it is not refused. */
SignatureKind
specs_last_kind(const SpecList *specs)
{
	return specs->last->kind;
}

/* How many there are. */
uint32
specs_number(const SpecList *specs)
{
	return specs->n;
}

/* True if a side has a signature. */
bool
specs_on_side(const SpecList *specs, JoinSide side)
{
	return specs->first[side] != NO_SPEC;
}

/* The first one of a side, or NO_MAKING. */
uint32
specs_first(const SpecList *specs, JoinSide side)
{
	return specs->first[side];
}

/* True if signatures of that spec, or of any, cannot be compared with each other. */
bool
specs_is_refused(const SpecList *specs, uint32 number)
{
	return bms_is_member(number, specs->refused);
}

/* A spec that both sides have and that is refused, or NO_SPEC. */
uint32
specs_refused_on_both(const SpecList *specs)
{
	Bitmapset  *both = bms_intersect(specs->sides[0], specs->sides[1]);

	return both == NULL ? NO_SPEC : bms_next_member(both, -1);
}

bool
specs_any_refused(const SpecList *specs)
{
	return specs->refused != NULL;
}

/* The spec of that number. */
SignatureSpec
specs_get(const SpecList *specs, uint32 number)
{
	SignatureSpec		spec = {0};
	NumberedSpec *entry;
	HASH_SEQ_STATUS status;

	hash_seq_init(&status, specs->table);
	while ((entry = hash_seq_search(&status)) != NULL)
		if (entry->number == number)
			spec = entry->spec;
	return spec;
}

/* The rows of the outer side, which were noted, are those of the inner. */
void
specs_mirror(SpecList *specs)
{
	specs->first[SIDE_INNER] = specs->first[SIDE_OUTER];
	specs->sides[SIDE_INNER] = specs->sides[SIDE_OUTER];
}

/* Notes the number in the row, where row_making() finds it. */
void
row_set_spec(JoinRow *row, uint32 spec)
{
	RowSpec	number = spec;

	StaticAssertStmt(sizeof(row->columns.mt_padding) >= sizeof(number),
					 "a minimal tuple has room for a number");
	if (number != spec)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("signatures of a join are of more than %d specs",
						PG_UINT16_MAX),
				 errhint("Use SET neardup.enable_join = off.")));
	memcpy(row->columns.mt_padding, &number, sizeof(number));
}
