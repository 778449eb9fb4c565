/** Creates ids, and checks which ids are safe in a path. */
import { hash, randomUUID } from "node:crypto"
import { InvalidIdError } from "./errors.ts"

/** Makes the ids of conversations and entries. Pass your own in tests. */
export interface Ids {
  uuid(): string
}

export const randomIds: Ids = { uuid: () => randomUUID() }

/** The same ids in the same order for the same seed. */
export function seededIds(seed: string): Ids {
  let count = 0
  return { uuid: () => uuidFrom(`${seed}:${count++}`) }
}

/** A uuid derived from a text. Equal texts give equal uuids. */
export function uuidFrom(text: string): string {
  const hex = hash("sha256", text, "hex")
  const variant = "89ab"[Number.parseInt(hex[16]!, 16) % 4]
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

const SAFE_ID = /^[A-Za-z0-9_-]{1,220}$/ // file names may have 255 bytes; the rest is for extensions

export function isSafeId(id: string): boolean {
  return SAFE_ID.test(id)
}

/** Returns the id if it is safe in a path; throws otherwise. */
export function checkedId(kind: string, id: string): string {
  if (!isSafeId(id)) throw new InvalidIdError(kind, id)
  return id
}

const LONGEST_PROJECT_NAME = 200 // characters; file names may have 255 bytes

/** The directory name for a project's path: everything but letters and digits becomes a dash. */
export function projectName(path: string): string {
  const name = path.replace(/[^A-Za-z0-9]/g, "-")
  if (name.length <= LONGEST_PROJECT_NAME) return name
  return `${name.slice(0, LONGEST_PROJECT_NAME)}-${hash("sha256", path, "hex").slice(0, 8)}`
}
