# Completion of ucopy-tune for fish. As that for bash, it lists nothing that the program knows itself.

function __ucopy_tune_words --argument-names tool cmd option
    # some commands look at the word only where there is a file to be read too
    set -l file
    for again in 1 2
        set -l known (command $tool $cmd $option '?' $file 2>&1 | string match -r --groups-only '\(known: (.*)\)$')
        if set -q known[1]
            string split ', ' $known[1]
            return
        end
        set file '?'
    end
end

function __ucopy_tune
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l tool $words[1]
    set -l cmd tune
    set -l option $words[-1]
    set -l head ''
    if test (count $words) -gt 1; and not string match -q -- '-*' $words[2]
        set cmd $words[2]
    end
    if string match -q -- '--*=*' $current
        set option (string replace -r '=.*' '' -- $current)
        set head $option=
    end
    set -l options (command $tool $cmd --help 2>/dev/null | string match -r --groups-only -- '^ {2,6}(?:-[a-zA-Z], )?(--[a-z0-9-]+(?:=[^ ]*)?)')
    if contains -- $option=WORD $options; or contains -- $option=STATE $options; or test "$option" = --disable-isa
        if test "$option" = --disable-isa
            set head (string replace -r '[^=,]*$' '' -- $current)
        end
        for word in (__ucopy_tune_words $tool $cmd $option)
            echo -- $head$word
        end
    else if string match -q -- "$option=*" $options
        __fish_complete_path $current
    else if string match -q -- '-*' $current
        string replace -r '=.*' '' -- $options
    else if test (count $words) -eq 1
        command $tool --help | string match -r --groups-only '^  ([a-z]+) +[a-z]'
    else if test $cmd = bench
        command $tool list | string match -r --groups-only '^(\w+)  +(?:candidate|baseline|reference|limit)\b'
    else
        __fish_complete_path $current
    end
end

complete -c ucopy-tune -f -a '(__ucopy_tune)'
