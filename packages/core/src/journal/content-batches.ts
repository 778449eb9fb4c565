/** Files of a content in batches: neither is a store asked for each of them, nor are all of them in memory at once. */
import type { StoredItem } from "./contents.ts"

const BATCH_BYTES = 8 * 1024 * 1024

export function* fileBatches({ files }: Pick<StoredItem, "files">): Generator<readonly string[]> {
  let batch: string[] = []
  let bytes = 0
  for (const file of files) {
    if (batch.length > 0 && bytes + (file.bytes ?? 0) > BATCH_BYTES) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(file.name)
    bytes += file.bytes ?? 0
  }
  if (batch.length > 0) yield batch
}
