/** The journal of a replay: in memory, but with paths as long as on disk, because requests contain them. */

import { basename, dirname } from "node:path"
import type { Entry } from "@strata/core"
import type { Journal } from "@strata/core/store"
import { memoryStore } from "@strata/core/store"
import type { RecordedStep } from "./recorded-steps.ts"

const USUAL_BLOBS = "/home/user/.strata/projects/-home-user-project/tool-results/5f0c8a3e-2b6d-4c1f-9e57-a40d1b7c6e92"

/** `find` returns an entry by its uuid. */
export async function replayJournal(
  steps: readonly RecordedStep[],
  find: (uuid: string) => Entry | undefined,
): Promise<Journal> {
  const kept = await memoryStore().open({ project: "replay", id: "replay" }, { access: "write", create: true })
  const blobs = blobsIn(steps) ?? USUAL_BLOBS
  const file = `${dirname(dirname(blobs))}/${basename(blobs)}.jsonl`
  return {
    ...kept,
    ...{ location: file, file },
    find: async (uuid) => find(uuid),
    async writeBlob(name, data) {
      const { bytes } = await kept.writeBlob(name, data)
      const path = `${blobs}/${name}`
      return { location: path, path, bytes }
    },
  }
}

/** The directory of offloaded results in the recording. */
function blobsIn(steps: readonly RecordedStep[]): string | undefined {
  for (const step of steps)
    if (step.kind === "old decision" && step.entry.subtype === "tool-result-persisted" && step.entry.path)
      return dirname(step.entry.path)
  return undefined
}
