/* Memory that the ranks of a team share without MPI. */
#ifndef RANKBENCH_PAGE_H
#define RANKBENCH_PAGE_H

#include "base/op.h"

/* Called by all ranks of a team on one host. Zeroed; NULL on all ranks if one of them cannot map it. */
void *map_page(const struct team *team, size_t bytes);
void unmap_page(void *page, size_t bytes);

#endif
