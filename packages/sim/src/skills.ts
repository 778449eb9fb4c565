/** The Skills API, as far as a client asks what there is: the skills that Anthropic publishes. None can be created. */
import { Hono } from "hono"
import { ApiError, invalidRequest } from "./api-error.ts"
import type { SimulatorEnv } from "./messages-route.ts"
import { pageOf, pageQuery } from "./paging.ts"

const PUBLISHED_AT = "2025-10-02T00:00:00Z"
const NAMES: Readonly<Record<string, string>> = { docx: "Word", pdf: "PDF", pptx: "PowerPoint", xlsx: "Excel" }
const SKILLS = Object.entries(NAMES).map(([id, display_name]) => ({
  id,
  type: "skill",
  display_name,
  latest_version_id: "20251002",
  source: { type: "anthropic" },
  created_at: PUBLISHED_AT,
  updated_at: PUBLISHED_AT,
}))

export function skillRoutes() {
  const app = new Hono<SimulatorEnv>()
  app.get("/", (c) => {
    const { source } = c.req.query()
    const wanted = SKILLS.filter((skill) => source === undefined || skill.source.type === source)
    const page = pageOf(wanted, pageQuery(c.req.query()), "skill")
    return c.json({ ...page, next_page: page.has_more ? page.last_id : null })
  })
  app.get("/:id", (c) => {
    const id = c.req.param("id")
    const skill = SKILLS.find((each) => each.id === id)
    if (!skill) throw new ApiError(404, `Skill not found: ${id}`)
    return c.json(skill)
  })
  app.post("/", () => {
    throw invalidRequest("This server cannot create skills. It lists those that Anthropic publishes.")
  })
  return app
}
