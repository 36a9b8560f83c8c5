# Completion of the fanout command for bash: the command itself says what the last word may become.
_fanout() {
    local command=${COMP_WORDS[0]/#\~/$HOME} line word strip i
    local -a words=() files=()
    # bash takes words apart at "=" and ":"; the command wants them whole.
    for ((i = 1; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if ((${#words[@]})) && [[ $word == [=:] || ${words[-1]} == *[=:] && ${COMP_WORDS[i - 1]} == [=:] ]]; then
            words[-1]+=$word
        else
            words+=("$word")
        fi
    done
    strip=${words[-1]%"${words[-1]##*[=:]}"}
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
        :files)
            compopt -o filenames 2>/dev/null
            while IFS= read -r line; do files+=("$line"); done < <(compgen -f -- "${words[-1]##*=}")
            ;;
        :nospace) compopt -o nospace 2>/dev/null ;;
        *)
            line=${line%%$'\t'*}
            COMPREPLY+=("${line#"$strip"}")
            ;;
        esac
    done < <("$command" --complete "${words[@]}" 2>/dev/null)
    COMPREPLY+=("${files[@]}")
}
complete -F _fanout fanout
