#define _GNU_SOURCE
#include "study/rounds_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocation.h"
#include "request/error.h"

static const char *const kind_names[ROUND_KINDS] = {"nodes", "pairs", "groups"};

static bool read_kind(const char *word, struct round *round, char error[LINE_BYTES]) {
    for (int kind = 0; kind < ROUND_KINDS; kind++)
        if (word && strcmp(word, kind_names[kind]) == 0) {
            round->kind = kind;
            round->size = kind + 1;
            return true;
        }
    return fail(error, "a line begins with nodes, pairs or groups, this one with '%.40s'", word ? word : "");
}

static bool read_whole(const char *word, int least, int most, int32_t *number, char error[LINE_BYTES]) {
    char *end = NULL;
    const long value = word ? strtol(word, &end, 10) : -1;
    *number = (int32_t)value;
    return (word && end != word && !*end && value >= least && value <= most) ||
           fail(error, "'%.40s' is no number from %d to %d", word ? word : "", least, most);
}

/* A node is in a round at most once, and the last group is whole. */
static bool read_nodes(char **rest, int nodes, struct round *round, char error[LINE_BYTES]) {
    bool *const in_round = obtain_memory((size_t)nodes);
    bool good = true;
    round->node = obtain_memory(sizeof *round->node * (size_t)nodes);
    for (char *word = strtok_r(NULL, " ", rest); good && word; word = strtok_r(NULL, " ", rest)) {
        int32_t node;
        good = read_whole(word, 0, nodes - 1, &node, error) &&
               (!in_round[node] || fail(error, "node %d stands twice in a round", node));
        if (good)
            in_round[node] = true, round->node[round->count++] = node;
    }
    free(in_round);
    return good && ((round->count > 0 && round->count % round->size == 0) ||
                    fail(error, "%d nodes do not make up groups of %d", round->count, round->size));
}

static bool read_round(char *line, int nodes, struct round *round, char error[LINE_BYTES]) {
    char *rest = NULL;
    line[strcspn(line, "\n")] = '\0';
    *round = (struct round){0};
    if (!read_kind(strtok_r(line, " ", &rest), round, error))
        return false;
    if (round->kind == ROUND_GROUPS && !read_whole(strtok_r(NULL, " ", &rest), 2, nodes, &round->size, error))
        return false;
    return read_nodes(&rest, nodes, round, error);
}

static void add_round(struct rounds *rounds, const struct round *round) {
    if ((rounds->count & (rounds->count + 1)) == 0)
        rounds->round = extend_memory(rounds->round, sizeof *round * 2 * (size_t)(rounds->count + 1));
    rounds->round[rounds->count++] = *round;
}

bool read_rounds(const char *path, int nodes, struct rounds *rounds, char error[LINE_BYTES]) {
    char *line = NULL, reason[LINE_BYTES];
    size_t room = 0;
    struct round round;
    FILE *file = fopen(path, "r");
    if (!file)
        return fail(error, "--rounds %s: %s", path, strerror(errno));
    bool good = getline(&line, &room, file) > 0 && strcmp(line, "rankbench-rounds 1\n") == 0;
    if (!good)
        fail(error, "--rounds %s line 1: not 'rankbench-rounds 1'", path);
    for (int number = 2; good && getline(&line, &room, file) > 0; number++) {
        good = read_round(line, nodes, &round, reason);
        if (good)
            add_round(rounds, &round);
        else
            fail(error, "--rounds %s line %d: %.*s", path, number, LINE_BYTES / 2, reason);
    }
    free(line);
    fclose(file);
    return good && (rounds->count > 0 || fail(error, "--rounds %s: no round in it", path));
}

void free_rounds(struct rounds *rounds) {
    for (int i = 0; i < rounds->count; i++)
        free(rounds->round[i].node);
    free(rounds->round);
}
