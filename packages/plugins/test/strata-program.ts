/** The program `strata` as an extension starts it: by its path, in a separate process. Also programs that fail in various ways. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inject } from "vitest"

/** Repeated to make a file long. */
export const FILLER = "// nothing of note\n".repeat(300)

export interface Programs {
  readonly strata: string
  /** Reads nothing and never ends by itself. */
  readonly silent: string
  /** Prints a response of another version. */
  readonly other: string
  readonly missing: string
  remove(): void
}

export function programs(): Programs {
  const place = mkdtempSync(join(tmpdir(), "strata-plugins-test-"))
  const script = (name: string, lines: string) => {
    const path = join(place, name)
    writeFileSync(path, `#!/bin/sh\n${lines}\n`)
    chmodSync(path, 0o755)
    return path
  }
  return {
    strata: script("strata", `exec "${process.execPath}" "${join(inject("bundle"), "cli", "dist", "main.js")}" "$@"`),
    silent: script("silent", "exec sleep 600"),
    other: script("other", `cat > /dev/null; echo '{"version":2}'`),
    missing: join(place, "missing"),
    remove: () => rmSync(place, { recursive: true, force: true }),
  }
}
