# Completion of ucopy-tune for bash. Nothing is listed here that the program knows itself: commands
# and options are those of its --help, strategies those of `ucopy-tune list`, and words those that it
# names when it is given one that it does not know.

# Options of a command, with "=VALUE" behind those that take one.
_ucopy_tune_options() {
    "$1" "$2" --help 2>/dev/null | sed -nE 's/^ {2,6}(-[a-zA-Z], )?(--[a-z0-9-]+(=[^ ]*)?).*/\2/p'
}

# Some commands look at the word only where there is a file to be read too.
_ucopy_tune_words() {
    local words
    words=$("$1" "$2" "$3" '?' 2>&1 | sed -n 's/.*(known: \(.*\))$/\1/p')
    [ -n "$words" ] || words=$("$1" "$2" "$3" '?' '?' 2>&1 | sed -n 's/.*(known: \(.*\))$/\1/p')
    echo "${words//,/}"
}

_ucopy_tune() {
    local tool=${COMP_WORDS[0]/#\~/$HOME} command=tune from=1
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} options head=
    COMPREPLY=()

    if [[ $COMP_CWORD -gt 1 && ${COMP_WORDS[1]} != -* ]]; then
        command=${COMP_WORDS[1]} from=2
    fi
    # "--format=js" is three words where = breaks them.
    if [[ $cur == "=" ]]; then
        cur=
    elif [[ $prev == "=" && $COMP_CWORD -gt 2 ]]; then
        prev=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    options=$(_ucopy_tune_options "$tool" "$command")
    if [[ $prev == --disable-isa && $options == *--disable-isa=* ]]; then
        [[ $cur == *,* ]] && head=${cur%,*},
        COMPREPLY=($(compgen -P "$head" -W "$(_ucopy_tune_words "$tool" "$command" "$prev")" -- "${cur##*,}"))
        return
    fi
    case $'\n'$options$'\n' in
    *$'\n'"$prev"=WORD$'\n'* | *$'\n'"$prev"=STATE$'\n'*)
        COMPREPLY=($(compgen -W "$(_ucopy_tune_words "$tool" "$command" "$prev")" -- "$cur"))
        return
        ;;
    *$'\n'"$prev"=*) return ;; # a file, a folder or a number
    esac
    if [[ $cur == -* ]]; then
        COMPREPLY=($(compgen -W "$(sed 's/=.*//' <<<"$options")" -- "$cur"))
    elif [[ $COMP_CWORD -eq 1 ]]; then
        COMPREPLY=($(compgen -W "$("$tool" --help 2>/dev/null | sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p')" -- "$cur"))
    elif [[ $command == bench && $COMP_CWORD -ge $from ]]; then
        COMPREPLY=($(compgen -W "$("$tool" list 2>/dev/null | sed -n '3,$s/^\([a-z0-9_]*\)  .*/\1/p')" -- "$cur"))
    fi
}

# Files where nothing of the above fits.
complete -o bashdefault -o default -F _ucopy_tune ucopy-tune
