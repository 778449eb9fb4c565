/** Vectors are kept by the text, so that an index that is built again finds them. */
import { hash } from "node:crypto"

export const hashOf = (text: string): string => hash("sha256", text, "base64")
