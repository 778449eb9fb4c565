/** Lists the journals of a directory. */
import { readdir } from "node:fs/promises"
import { isSafeId } from "../../base/clock.ts"

export async function listJournalIds(directory: string): Promise<readonly string[]> {
  const names = await readdir(directory).catch(() => [] as string[])
  return names
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => name.slice(0, -".jsonl".length))
    .filter(isSafeId)
}
