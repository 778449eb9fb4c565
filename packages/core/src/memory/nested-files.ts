/** A folder of memory files as memory files of their own. A change there and one outside can be installed in the same step. */
import { join } from "node:path"
import type { MemoryFileChange, MemoryFiles } from "../journal/memory-files.ts"

export function nestedFiles(files: MemoryFiles, folder: string): MemoryFiles {
  const inside = (path: string) => `${folder}/${path}`
  const outside = (path: string) => path.slice(folder.length + 1)
  return {
    location: `${files.location}/${folder}`,
    ...(files.directory === undefined ? {} : { directory: join(files.directory, ...folder.split("/")) }),
    async list(under) {
      const listed = await files.list(under === undefined ? folder : inside(under))
      return listed
        .map((listing) => ({ ...listing, path: outside(listing.path) }))
        .filter(({ path }) => under !== undefined || !path.split("/").some((part) => part.startsWith(".")))
    },
    read: (path) => files.read(inside(path)),
    async install(changes, options) {
      const report = await files.install(movedInto(folder, changes), options)
      return report && { kept: report.kept.map(outside) }
    },
  }
}

/** The same changes, seen from outside the folder. */
export const movedInto = (folder: string, changes: readonly MemoryFileChange[]): readonly MemoryFileChange[] =>
  changes.map((change) => ({ ...change, path: `${folder}/${change.path}` }))
