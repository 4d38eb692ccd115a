package signatures

// Subset returns a set with the signatures that keep accepts. It serves to
// measure what a part of the library is worth.
func (s *Set) Subset(keep func(*Signature) bool) *Set {
	sub := newSet(len(s.Sigs))
	for _, sig := range s.Sigs {
		if keep(sig) {
			sub.byID[sig.ID] = len(sub.Sigs)
			sub.Sigs = append(sub.Sigs, sig)
		}
	}
	sub.seal()
	return sub
}
