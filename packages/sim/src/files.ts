/** The Files API, in memory. As in the API, a file that a client uploaded cannot be downloaded. */
import { Hono } from "hono"
import { bodyOf, readBytes } from "./admission.ts"
import { ApiError, invalidRequest } from "./api-error.ts"
import type { SimulatorEnv } from "./messages-route.ts"
import { pageOf, pageQuery } from "./paging.ts"
import type { Simulation } from "./simulation.ts"

const MAX_FILES = 1000
const MAX_BYTES = 256 * 1024 * 1024 // over all files; the API has 500 GB for each organization
const MAX_NAME = 255
const FORBIDDEN_IN_NAME = /[<>:"|?*\\/\p{Cc}]/u

interface StoredFile {
  readonly id: string
  readonly type: "file"
  readonly filename: string
  readonly mime_type: string
  readonly size_bytes: number
  readonly created_at: string
  readonly downloadable: false
}

export function fileRoutes(simulation: Simulation) {
  const app = new Hono<SimulatorEnv>()
  const files = new Map<string, StoredFile>()
  let storedBytes = 0

  const find = (id: string): StoredFile => {
    const file = files.get(id)
    if (!file) throw new ApiError(404, `File not found: ${id}`)
    return file
  }

  app.post("/", async (c) => {
    const file = await readUpload(c.req.raw, simulation.maxRequestBytes)
    if (files.size >= MAX_FILES || storedBytes + file.size > MAX_BYTES) {
      throw new ApiError(403, "The storage for files is full. Delete files first.")
    }
    const stored: StoredFile = {
      id: simulation.identity.next("file"),
      type: "file",
      filename: file.name,
      mime_type: file.type || "application/octet-stream",
      size_bytes: file.size,
      created_at: new Date(simulation.clock.now()).toISOString(),
      downloadable: false,
    }
    storedBytes += file.size
    files.set(stored.id, stored)
    return c.json(stored)
  })
  app.get("/", (c) => {
    const page = pageOf([...files.values()].toReversed(), pageQuery(c.req.query()), "file")
    return c.json({ ...page, next_page: page.has_more ? page.last_id : null })
  })
  app.get("/:id", (c) => c.json(find(c.req.param("id"))))
  app.get("/:id/content", (c) => {
    const { id } = find(c.req.param("id"))
    throw invalidRequest(`File ${id} is not downloadable.`)
  })
  app.delete("/:id", (c) => {
    const { id, size_bytes } = find(c.req.param("id"))
    files.delete(id)
    storedBytes -= size_bytes
    return c.json({ id, type: "file_deleted" })
  })
  return app
}

async function readUpload(request: Request, maxBytes: number): Promise<File> {
  const bytes = await readBytes(bodyOf(request), maxBytes)
  const headers = { "content-type": request.headers.get("content-type") ?? "" }
  const form = await new Response(new Uint8Array(bytes), { headers }).formData().catch(() => undefined)
  const file = form?.get("file")
  if (!(file instanceof File)) throw invalidRequest("file: Field required")
  if (file.size === 0) throw invalidRequest("file: the file is empty")
  if (file.name === "" || file.name.length > MAX_NAME || FORBIDDEN_IN_NAME.test(file.name)) {
    throw invalidRequest(
      'file: the name must have 1 to 255 characters, without any of <>:"|?*\\/ and control characters',
    )
  }
  return file
}
