/**
 * The sources that each picture in `docs/pictures` shows. `npm run picture` writes a hash of them to `made-from.json`, and a test compares
 * it: a picture that shows an older program is made again. The lists have what one can see, not everything that runs.
 */
import { createHash } from "node:crypto"
import { globSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

export const ROOT = join(import.meta.dirname, "..", "..")
export const PICTURES = join(ROOT, "docs", "pictures")
const HASHES = join(PICTURES, "made-from.json")

const PAGE = "packages/page/src"
const FRAME_OF_A_PAGE = [
  `${PAGE}/client/*.ts`,
  `${PAGE}/render/{page-style,style,document,format,markup,scale}.ts`,
  `${PAGE}/render/views/shell.ts`,
]

export const SHOWN = {
  demo: {
    files: ["demo.svg"],
    sources: [
      "dev/docs/{demo-film,terminal-svg}.ts",
      "packages/cli/src/demo/*.ts",
      "packages/cli/src/display/{bars,compaction,context-parts,numbers,savings,table,terminal,text}.ts",
      "packages/cli/src/chat/{folded,query-items}.ts",
      "packages/cli/src/chat/view/{item-view,markdown-view,theme}.ts",
    ],
  },
  dashboard: {
    files: ["dashboard-light.png", "dashboard-dark.png"],
    sources: [
      ...FRAME_OF_A_PAGE,
      `${PAGE}/render/{chart-frame,charted-misses,content,context-chart,live-timeline,point-parts,turn-classes}.ts`,
      `${PAGE}/render/views/{context,money}.ts`,
      `${PAGE}/labels/{cache-breaks,context}.ts`,
    ],
  },
  usage: {
    files: ["usage-light.png", "usage-dark.png"],
    sources: [
      ...FRAME_OF_A_PAGE,
      `${PAGE}/render/{day-chart,usage-style}.ts`,
      `${PAGE}/render/views/{usage,usage-format}.ts`,
      `${PAGE}/usage/{overview,sentences}.ts`,
    ],
  },
} as const

export type PictureName = keyof typeof SHOWN
export const PICTURE_NAMES = Object.keys(SHOWN) as PictureName[]

/** Hash of the sources of a picture, without their tests. */
export function hashSources(name: PictureName): string {
  const hash = createHash("sha256")
  for (const pattern of SHOWN[name].sources) {
    const files = globSync(pattern, { cwd: ROOT }).filter((file) => !file.includes(".test."))
    if (files.length === 0) throw new Error(`No file matches ${pattern}, a source of the picture "${name}".`)
    for (const file of files.toSorted()) hash.update(`${file}\0`).update(readFileSync(join(ROOT, file)))
  }
  return hash.digest("hex").slice(0, 16)
}

/** The hashes at the time when the pictures were made. */
export const recordedHashes = (): Partial<Record<PictureName, string>> => JSON.parse(readFileSync(HASHES, "utf8"))

export function recordHash(name: PictureName): void {
  writeFileSync(HASHES, `${JSON.stringify({ ...recordedHashes(), [name]: hashSources(name) }, null, 2)}\n`)
}
