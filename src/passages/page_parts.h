/*
 * page_parts.h
 *		What each page of passages has in it: its style and its script.
 */
#ifndef NEARDUP_PAGE_PARTS_H
#define NEARDUP_PAGE_PARTS_H

/* Passages have one of so many colours, by their number: classes c0, c1, ... */
#define PAGE_COLOURS	8

extern const char page_style[];
extern const char page_script[];

#endif							/* NEARDUP_PAGE_PARTS_H */
