/* Messages to people, on stderr. stdout is data and nothing here writes to it.
 * Each line is one sentence that names what and where; the caller prints it once,
 * at the place where the name of the thing is known. */
#ifndef UC_BASE_MSG_H
#define UC_BASE_MSG_H

/* -1: errors only (-q); 0: errors, warnings, notes; 1: details too (-v). */
void uc_msg_level(int level);

void uc_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void uc_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void uc_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void uc_detail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A line that is redrawn in place: what is measured now, share done (0 to 1), seconds left
 * (negative: unknown). Shown on a terminal only (not with -q, nor where TERM is "dumb"). Redraws
 * at most ten times a second. */
void uc_progress(const char *what, double share, double seconds_left);
void uc_progress_end(void);

#endif
