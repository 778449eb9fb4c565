/** Changes a small text that several processes share: no change is lost. */
import { MemoryChangedError } from "../base/errors.ts"
import type { MemoryFiles } from "./memory-files.ts"

const MOST_ATTEMPTS = 10_000 // each failure means that another succeeded; of 16 at once, one may lose a hundred times

/** `to`: the new text for the one that is there, or `undefined` to leave it. It may be called several times. */
export async function changedText(
  files: Pick<MemoryFiles, "read" | "install">,
  path: string,
  to: (text: string | undefined) => string | undefined,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const before = await files.read(path)
    const text = to(before)
    if (text === undefined) return
    try {
      await files.install([{ path, text, expected: before ?? null }])
      return
    } catch (error) {
      if (!(error instanceof MemoryChangedError) || attempt >= MOST_ATTEMPTS) throw error
    }
  }
}
