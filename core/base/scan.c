#include "base/scan.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/core.h"

int scan_file(const char *path, const char *format, ...) {
    char line[2 * LINE_BYTES];
    int count = 0;
    FILE *file = fopen(path, "r");
    while (file && count <= 0 && fgets(line, sizeof line, file)) {
        va_list values;
        va_start(values, format);
        count = vsscanf(line, format, values);
        va_end(values);
    }
    if (file)
        fclose(file);
    return count > 0 ? count : 0;
}
