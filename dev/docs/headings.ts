/** Finds the headings of a page by the anchors that GitHub gives them. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dirname, "../..")

/** Whether the page exists and has this heading. `page` is relative to the root of the repository. */
export function headingExists(page: string, heading: string | undefined): boolean {
  if (!existsSync(join(root, page))) return false
  return heading === undefined || anchorsOf(readFileSync(join(root, page), "utf8")).includes(heading)
}

const anchorsOf = (page: string): readonly string[] =>
  [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  )
