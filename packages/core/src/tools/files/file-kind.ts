/** Recognises a file by its first bytes, never by its name: the API refuses an image of the wrong type. */
import { extname } from "node:path"

export type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp"

export type FileKind =
  | { readonly kind: "image"; readonly mediaType: ImageType }
  | { readonly kind: "pdf" }
  /** Not an image or a document. Common formats have a `name`. */
  | { readonly kind: "other"; readonly name?: string }

/** The first bytes, in Latin-1. `?` is any byte. */
type Mark<Name> = readonly [beginning: string, name: Name]

const IMAGES: readonly Mark<ImageType>[] = [
  ["\x89PNG\r\n\x1a\n", "image/png"],
  ["\xff\xd8\xff", "image/jpeg"],
  ["GIF87a", "image/gif"],
  ["GIF89a", "image/gif"],
  ["RIFF????WEBP", "image/webp"],
]

const FORMATS: readonly Mark<string>[] = [
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

const BEGINNING = 16 // bytes: no mark is longer

export function kindOf(bytes: Buffer): FileKind {
  const beginning = bytes.subarray(0, BEGINNING).toString("latin1")
  const begins = (mark: string) => [...mark].every((byte, at) => byte === "?" || byte === beginning[at])
  const find = <Name>(marks: readonly Mark<Name>[]) => marks.find(([mark]) => begins(mark))?.[1]
  const mediaType = find(IMAGES)
  if (mediaType) return { kind: "image", mediaType }
  if (begins("%PDF-")) return { kind: "pdf" }
  const name = find(FORMATS)
  return name ? { kind: "other", name } : { kind: "other" }
}

/** One phrase about a binary file: its format and size. */
export function describeBinary(bytes: Buffer, path: string): string {
  const kind = kindOf(bytes)
  const name = kind.kind === "other" ? kind.name : kind.kind === "pdf" ? "PDF document" : kind.mediaType
  return `${name ?? (`${extname(path).slice(1)} file`.trim() || "file")}, ${sizeInWords(bytes.length)}`
}

export function sizeInWords(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} KB`
  if (bytes < 1_000_000_000) return `${(bytes / 1_000_000).toFixed(1)} MB`
  return `${(bytes / 1_000_000_000).toFixed(1)} GB`
}
