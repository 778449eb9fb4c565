/** Hashes by which vectors are stored, so that a rebuilt index finds them. */
import { hash } from "node:crypto"

export const hashOf = (text: string): string => hash("sha256", text, "base64")
