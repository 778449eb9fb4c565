/** Detects the type of a file by its first bytes, never by its name, because the API refuses an image with the wrong type. */
import { extname } from "node:path"

export type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp"

export type FileFormat =
  | { readonly kind: "image"; readonly mediaType: ImageType }
  | { readonly kind: "pdf" }
  /** Neither an image nor a document. Common formats have a `name`. */
  | { readonly kind: "other"; readonly name?: string }

/** A file signature: the first bytes in Latin-1, where `?` matches any byte. */
type Signature<Name> = readonly [prefix: string, name: Name]

const IMAGES: readonly Signature<ImageType>[] = [
  ["\x89PNG\r\n\x1a\n", "image/png"],
  ["\xff\xd8\xff", "image/jpeg"],
  ["GIF87a", "image/gif"],
  ["GIF89a", "image/gif"],
  ["RIFF????WEBP", "image/webp"],
]

const FORMATS: readonly Signature<string>[] = [
  ["PK\x03\x04", "ZIP archive"],
  ["\x1f\x8b", "gzip archive"],
  ["BZh", "bzip2 archive"],
  ["\xfd7zXZ", "xz archive"],
  ["7z\xbc\xaf", "7-Zip archive"],
  ["\x28\xb5\x2f\xfd", "Zstandard archive"],
  ["\x7fELF", "ELF program or library"],
  ["MZ", "Windows program or library"],
  ["\xcf\xfa\xed\xfe", "macOS program or library"],
  ["\xca\xfe\xba\xbe", "Java class or macOS program"],
  ["\0asm", "WebAssembly module"],
  ["SQLite format 3", "SQLite database"],
  ["wOFF", "font"],
  ["wOF2", "font"],
  ["OTTO", "font"],
  ["ID3", "MP3 audio"],
  ["OggS", "Ogg audio or video"],
  ["RIFF????WAVE", "WAV audio"],
  ["????ftyp", "MP4 or HEIC media"],
  ["II*\0", "TIFF image"],
  ["MM\0*", "TIFF image"],
  ["BM", "BMP image"],
]

const SIGNATURE_BYTES = 16 // bytes; no signature is longer

export function detectKind(bytes: Buffer): FileFormat {
  const prefix = bytes.subarray(0, SIGNATURE_BYTES).toString("latin1")
  const startsWithSignature = (signature: string) =>
    [...signature].every((byte, at) => byte === "?" || byte === prefix[at])
  const find = <Name>(signatures: readonly Signature<Name>[]) =>
    signatures.find(([signature]) => startsWithSignature(signature))?.[1]
  const mediaType = find(IMAGES)
  if (mediaType) return { kind: "image", mediaType }
  if (startsWithSignature("%PDF-")) return { kind: "pdf" }
  const name = find(FORMATS)
  return name ? { kind: "other", name } : { kind: "other" }
}

/** Describes a binary file by its format and size. */
export function describeBinary(bytes: Buffer, path: string): string {
  const kind = detectKind(bytes)
  const name = kind.kind === "other" ? kind.name : kind.kind === "pdf" ? "PDF document" : kind.mediaType
  return `${name ?? (`${extname(path).slice(1)} file`.trim() || "file")}, ${formatBytes(bytes.length)}`
}

export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} KB`
  if (bytes < 1_000_000_000) return `${(bytes / 1_000_000).toFixed(1)} MB`
  return `${(bytes / 1_000_000_000).toFixed(1)} GB`
}
