/* SPDX-License-Identifier: Apache-2.0 */
/* Parses axes, and items of clauses. */
#ifndef KMMCC_PRAGMA_ITEM_H
#define KMMCC_PRAGMA_ITEM_H

#include "kmm/launch.h"
#include "pragma/directive.h"
#include "pragma/parser.h"

/* Adds an item to the directive; NULL if it has too many. Pointers to earlier items become
 * invalid. */
item_t *directive_add_item(directive_t *d);
/* axis = NAME [':' source] ['=' operand ':' operand] */
void parse_axis(parser_t *p);
/* items = item { ',' item } */
void parse_items(parser_t *p, kmm_mode_t mode, kmm_op_t op);
/* map-items = map-item { ',' map-item } */
void parse_map_items(parser_t *p, kmm_map_t map);

#endif
