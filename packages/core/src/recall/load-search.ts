/** Search in memories and past conversations. It needs SQLite, so it is loaded on demand. */
export async function loadSearch() {
  const [{ JournalIndex }, { MemorySearch }] = await Promise.all([
    import("./journal-index.ts"),
    import("./memory-search.ts"),
  ])
  return { JournalIndex, MemorySearch }
}
