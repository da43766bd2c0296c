/* Values that the system shows in files, such as /proc/self/status. */
#ifndef RANKBENCH_SCAN_H
#define RANKBENCH_SCAN_H

/* Reads the first line of a file that matches a format of sscanf. Returns the number of its values; 0: there is none. */
int scan_file(const char *path, const char *format, ...) __attribute__((format(scanf, 2, 3)));

#endif
