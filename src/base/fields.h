/* Lines of CSV, cut into their fields. */
#ifndef UC_BASE_FIELDS_H
#define UC_BASE_FIELDS_H

/* Cuts the next field off, at a comma, and trims its blanks; NULL at the end. */
char *uc_next_field(char **at);

#endif
