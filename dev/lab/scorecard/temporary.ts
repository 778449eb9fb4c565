/** A temporary directory that is deleted when its user is done. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

export function temporaryDirectory(): { readonly directory: string; remove(): void } {
  const directory = mkdtempSync(join(tmpdir(), "strata-scorecard-"))
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) }
}
