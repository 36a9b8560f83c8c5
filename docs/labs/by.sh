# by.sh ROW COLUMN VALUE: of a CSV table on standard input, VALUE with a line for each ROW and a column for each COLUMN.
#     fanout coll all_reduce -a ring,nvls -b 1K -e 1M --format csv | sh by.sh bytes algo time_us
exec awk -F, -v row="$1" -v column="$2" -v value="$3" '
NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i
          if (!(row in at && column in at && value in at)) { print "no such columns in: " $0; exit 1 }
          next }
{ r = $at[row]; c = $at[column]; cell[r, c] = $at[value]
  if (!(r in seen)) { seen[r] = 1; rows[++n] = r }
  if (!(c in had)) { had[c] = 1; columns[++m] = c } }
END { line = sprintf("%9s", row)
      for (k = 1; k <= m; k++) line = line sprintf("%9s", columns[k])
      for (i = 0; i <= n; i++) {
          if (i > 0) line = sprintf("%9s", rows[i])
          for (k = 1; k <= m && i > 0; k++) line = line sprintf("%9s", cell[rows[i], columns[k]])
          print line } }'
