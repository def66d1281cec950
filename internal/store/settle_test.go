package store

// settle waits until a pass that runs has ended.
func (w *sweeper) settle() {
	w.mu.Lock()
	defer w.mu.Unlock()
}
