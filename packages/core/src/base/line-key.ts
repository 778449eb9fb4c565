/** The key by which the index knows a uuid: its 16 bytes, or a hash of an id of another form. */
import { hash } from "node:crypto"

export const KEY_BYTES = 16

const DAMAGED = "damaged:"

/** The id of a line whose own one cannot be read: where it begins. */
export const damagedId = (offset: number): string => `${DAMAGED}${offset}`

export function keyOf(uuid: string): Buffer {
  if (uuid.startsWith(DAMAGED)) {
    const key = Buffer.alloc(KEY_BYTES)
    key.writeDoubleLE(Number(uuid.slice(DAMAGED.length)), KEY_BYTES / 2)
    return key
  }
  const hex = uuid.replaceAll("-", "")
  return /^[0-9a-f]{32}$/.test(hex) ? Buffer.from(hex, "hex") : hash("sha256", uuid, "buffer").subarray(0, KEY_BYTES)
}
