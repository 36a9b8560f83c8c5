# columns.sh NAME...: of a CSV table on standard input, the columns of these names, in a table for people.
#     fanout coll all_reduce --format csv | sh columns.sh algo bytes time_us
exec awk -F, -v names="$*" '
NR == 1 { n = split(names, want, " "); for (i = 1; i <= NF; i++) at[$i] = i
          for (k = 1; k <= n; k++) if (!(want[k] in at)) { print "no column " want[k] " in: " $0; exit 1 } }
{ for (k = 1; k <= n; k++) { cell[NR, k] = NR == 1 ? want[k] : $at[want[k]]
                             if (length(cell[NR, k]) > width[k]) width[k] = length(cell[NR, k]) } }
END { for (r = 1; r <= NR; r++) { line = ""
          for (k = 1; k <= n; k++) line = line sprintf("%*s", width[k] + (k > 1) * 2, cell[r, k])
          print line } }'
