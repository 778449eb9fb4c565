/** The journal that the layers of a replay see: in memory, with paths as long as those on a disk. They are in what the model is sent. */

import { basename, dirname } from "node:path"
import type { Entry } from "@strata/core"
import type { Journal } from "@strata/core/store"
import { memoryStore } from "@strata/core/store"
import type { Step } from "./recorded-steps.ts"

const USUAL_BLOBS = "/home/user/.strata/projects/-home-user-project/tool-results/5f0c8a3e-2b6d-4c1f-9e57-a40d1b7c6e92"

/** `find`: an entry by its uuid. */
export async function replayJournal(
  steps: readonly Step[],
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

/** Where the recording itself put results aside. */
function blobsIn(steps: readonly Step[]): string | undefined {
  for (const step of steps)
    if (step.kind === "old decision" && step.entry.subtype === "tool-result-persisted" && step.entry.path)
      return dirname(step.entry.path)
  return undefined
}
