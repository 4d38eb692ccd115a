package signatures

import "strings"

// suggest returns advice for a word that is none of the known ones: the nearest
// if one is near, else all of them.
func suggest(word string, known []string) string {
	best, dist := "", len(word)/2+1
	for _, k := range known {
		if d := editDistance(word, k); d < dist {
			best, dist = k, d
		}
	}
	if best != "" {
		return "write " + best
	}
	return "use one of " + strings.Join(known, ", ")
}

// editDistance is the number of bytes to insert, delete or replace to make b of a.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
