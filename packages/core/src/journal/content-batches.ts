/** Splits the files of an item into batches, so that a store is not asked for each file and not all files are in memory at once. */
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
