/*
 * owner.c
 *		Work with the rights of a table's owner.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/guc.h"

#include "base/compat.h"
#include "base/owner.h"

void
owner_begin(OwnerWork *work, Relation rel)
{
	GetUserIdAndSecContext(&work->user, &work->context);
	SetUserIdAndSecContext(rel->rd_rel->relowner,
						   work->context | SECURITY_RESTRICTED_OPERATION);
	work->settings = NewGUCNestLevel();
	compat_restrict_search_path();
}

void
owner_end(const OwnerWork *work)
{
	AtEOXact_GUC(false, work->settings);
	SetUserIdAndSecContext(work->user, work->context);
}

void
owner_must_see_all_rows(void)
{
	(void) set_config_option("row_security", "off", PGC_USERSET,
							 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

bool
owner_is_another(Relation rel)
{
	Oid			owner = rel->rd_rel->relowner;

	return GetUserId() != owner && has_privs_of_role(GetUserId(), owner);
}
