// Package nearest finds the name that was meant by one that is not known, for "did you mean" in error texts. Called by the
// readers of command lines and files.
package nearest

// Name is the first of the known names with the fewest letters to change, insert or delete; "" if all differ in more than
// two, or in more than a third of a short name.
func Name(name string, known []string) string {
	best, least := "", min(3, 1+len(name)/3)
	for _, k := range known {
		if d := distance(name, k, least); d < least {
			best, least = k, d
		}
	}
	return best
}

// distance counts the bytes to change, insert and delete to get from a to b (Levenshtein), or is most if they are more.
func distance(a, b string, most int) int {
	if len(a)-len(b) >= most || len(b)-len(a) >= most {
		return most
	}
	line := make([]int, len(b)+1)
	for j := range line {
		line[j] = j
	}
	for i := range len(a) {
		diagonal := line[0]
		line[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = line[j+1]
			line[j+1] = min(change, line[j]+1, diagonal+1)
		}
	}
	return min(line[len(b)], most)
}
