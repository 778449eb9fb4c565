/** Changes a small text that several processes share: no change is lost. */
import { MemoryChangedError } from "../base/errors.ts"
import type { MemoryFiles } from "../journal/memory-files.ts"

const MOST_ATTEMPTS = 100 // each failure means that another process succeeded

/** `to`: the new text for the one that is there. It may be called several times. */
export async function changedText(
  files: Pick<MemoryFiles, "read" | "install">,
  path: string,
  to: (text: string | undefined) => string,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const before = await files.read(path)
    try {
      await files.install([{ path, text: to(before), expected: before ?? null }])
      return
    } catch (error) {
      if (!(error instanceof MemoryChangedError) || attempt >= MOST_ATTEMPTS) throw error
    }
  }
}
