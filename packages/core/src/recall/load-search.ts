/** Search in memories and past conversations. It needs SQLite, so it is loaded on demand. */
export async function loadSearch() {
  const [{ JournalSearch }, { MemorySearch }] = await Promise.all([
    import("./journal-search.ts"),
    import("./memory-search.ts"),
  ])
  return { JournalSearch, MemorySearch }
}
