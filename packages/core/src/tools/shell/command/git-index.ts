/** Reads which files and submodules git's index tracks. The format is documented by git: gitformat-index. */

const HEADER_BYTES = 12
const FIXED_BYTES = 62 // of an entry, before its name, in a repository with SHA-1 names
const MODE_AT = 24
const FLAGS_AT = 60
const GITLINK = 0o160000
const DIRECTORY = 0o040000
const EXTENDED = 0x4000

export interface TrackedEntry {
  readonly path: string
  readonly isSubmodule: boolean
}

/** `undefined`: the index is damaged, or of a kind that is not understood. */
export function entriesIn(index: Buffer): readonly TrackedEntry[] | undefined {
  if (index.length < HEADER_BYTES || index.toString("latin1", 0, 4) !== "DIRC") return undefined
  const version = index.readUInt32BE(4)
  const entries = index.readUInt32BE(8)
  if (version < 2 || version > 4) return undefined
  const found: TrackedEntry[] = []
  let at = HEADER_BYTES
  let path = ""
  for (let entry = 0; entry < entries; entry++) {
    if (at + FIXED_BYTES > index.length) return undefined
    const mode = index.readUInt32BE(at + MODE_AT)
    if (mode === DIRECTORY) return undefined // a sparse index leaves out what is below
    const isSubmodule = mode === GITLINK
    const name = at + FIXED_BYTES + (index.readUInt16BE(at + FLAGS_AT) & EXTENDED ? 2 : 0)
    const cut = version === 4 ? offsetAt(index, name) : { value: 0, bytes: 0 }
    const begin = name + cut.bytes
    const end = index.indexOf(0, begin)
    if (end < 0) return undefined
    const text = index.toString("latin1", begin, end) // a byte a character: version 4 counts bytes
    path = version === 4 ? path.slice(0, path.length - cut.value) + text : text
    found.push({ path: Buffer.from(path, "latin1").toString("utf8"), isSubmodule })
    at = version === 4 ? end + 1 : at + Math.ceil((end + 1 - at) / 8) * 8
  }
  return index.toString("latin1", at, at + 4) === "link" ? undefined : found // a split index has its entries elsewhere
}

/** The variable-length number in front of a name in version 4. */
function offsetAt(bytes: Buffer, at: number): { readonly value: number; readonly bytes: number } {
  let byte = bytes[at] ?? 0
  let value = byte & 0x7f
  let count = 1
  while (byte & 0x80) {
    byte = bytes[at + count++] ?? 0
    value = ((value + 1) << 7) | (byte & 0x7f)
  }
  return { value, bytes: count }
}
