/*
 * settings.h
 *		The values of settings that more than one folder asks for.
 */
#ifndef NEARDUP_SETTINGS_H
#define NEARDUP_SETTINGS_H

extern double neardup_threshold;	/* of the operators %, <% and %> */

extern int	settings_taken_over(void);

#endif							/* NEARDUP_SETTINGS_H */
