// The theme that was chosen, set before the first paint: a file of its own, because nothing inline runs here.
try {
  const theme = localStorage.getItem('recoup-theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // No storage: the system's theme.
}
