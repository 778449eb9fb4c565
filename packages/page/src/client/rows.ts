/**
 * Scrolls through a conversation of any length. Slices of rows are placeholders until they come near the window, and again when they are
 * far from it, so that the page stays small.
 */
import { fragment } from "./live.ts"

const NEAR = "1200px"
const ROW_PIXELS = 90 // estimate before a slice has been measured
const MAX_LOADED = 16 // slices

export interface ScrolledRows {
  grown(total: number): void
}

export function scrollRows(): ScrolledRows | undefined {
  const box = document.querySelector<HTMLElement>("[data-rows]")
  if (!box) return undefined
  const rows = new Rows(box)
  rows.start()
  return { grown: (total) => rows.grow(total) }
}

class Rows {
  readonly #box: HTMLElement
  readonly #path: string
  readonly #size: number
  readonly #slices: HTMLElement[] = []
  readonly #loaded = new Map<HTMLElement, number>()
  readonly #near: IntersectionObserver
  #total = 0
  #clock = 0

  constructor(box: HTMLElement) {
    this.#box = box
    this.#path = box.dataset.rows ?? ""
    this.#size = Number(box.dataset.slice)
    this.#near = new IntersectionObserver((seen) => this.#seen(seen), { root: box, rootMargin: NEAR })
  }

  start(): void {
    const first = this.#box.querySelector<HTMLElement>("[data-slice-from]")
    const from = Number(this.#box.dataset.from)
    this.#place(Number(this.#box.dataset.total))
    const place = this.#slices[Math.floor(from / this.#size)]
    if (first && place) {
      place.replaceChildren(...first.childNodes)
      this.#measured(place)
      first.remove()
    }
    if (new URLSearchParams(location.search).has("at") && place) place.scrollIntoView()
    else if (location.hash.length > 1) void this.goTo(location.hash.slice(1))
    else this.#end()
    addEventListener("hashchange", () => void this.goTo(location.hash.slice(1)))
    for (const button of document.querySelectorAll<HTMLButtonElement>("[data-go]"))
      button.addEventListener("click", () => {
        this.#box.scrollTop = button.dataset.go === "first" ? 0 : this.#box.scrollHeight
      })
    const form = document.querySelector<HTMLFormElement>("[data-find]")
    form?.addEventListener("submit", (event) => {
      event.preventDefault()
      void search(form)
    })
  }

  /** Adds new rows. If the user is at the end, the view stays at the end. */
  grow(total: number): void {
    if (total === this.#total) return
    const isAtEnd = this.#box.scrollTop + this.#box.clientHeight >= this.#box.scrollHeight - 60
    const last = this.#slices.at(-1)
    this.#place(total)
    if (last) void this.#load(last)
    const count = document.querySelector("[data-count]")
    if (count) count.textContent = total.toLocaleString("en")
    if (isAtEnd) setTimeout(() => this.#end(), 0)
  }

  #end(): void {
    const last = this.#slices.at(-1)
    const go = () => {
      this.#box.scrollTop = this.#box.scrollHeight
    }
    go()
    if (last) void this.#load(last).then(go)
  }

  /** Scrolls to a message by its handle, and loads it first if necessary. */
  async goTo(handle: string): Promise<void> {
    const answer = await fetch(`${this.#path}/place?handle=${encodeURIComponent(handle)}`).catch(() => undefined)
    const { at } = answer?.ok ? ((await answer.json()) as { at: number }) : { at: -1 }
    const slice = this.#slices[Math.floor(at / this.#size)]
    if (at < 0 || !slice) return
    await this.#load(slice)
    const row = document.getElementById(handle)
    row?.scrollIntoView({ block: "center" })
    row?.setAttribute("tabindex", "-1")
    row?.focus({ preventScroll: true })
  }

  #place(total: number): void {
    this.#total = total
    for (let from = this.#slices.length * this.#size; from < total; from += this.#size) {
      const slice = document.createElement("section")
      slice.className = "slice-rows"
      slice.style.minHeight = `${ROW_PIXELS * Math.min(this.#size, total - from)}px`
      this.#slices.push(slice)
      this.#box.append(slice)
      this.#near.observe(slice)
    }
  }

  #seen(seen: readonly IntersectionObserverEntry[]): void {
    for (const { target, isIntersecting } of seen)
      if (isIntersecting && !this.#loaded.has(target as HTMLElement)) void this.#load(target as HTMLElement)
  }

  async #load(slice: HTMLElement): Promise<void> {
    this.#loaded.set(slice, ++this.#clock)
    const from = this.#slices.indexOf(slice) * this.#size
    const answer = await fetch(`${this.#path}/rows?from=${from}&count=${this.#size}`).catch(() => undefined)
    if (!answer?.ok) {
      this.#loaded.delete(slice)
      return
    }
    slice.replaceChildren(fragment(await answer.text()))
    this.#measured(slice)
    this.#letGo()
  }

  #measured(slice: HTMLElement): void {
    this.#loaded.set(slice, ++this.#clock)
    slice.style.minHeight = ""
  }

  /** Unloads the slices that were visible longest ago. Their placeholders have the same height. */
  #letGo(): void {
    const box = this.#box.getBoundingClientRect()
    const far = [...this.#loaded]
      .map(([slice, seen]) => ({ slice, seen, place: slice.getBoundingClientRect() }))
      .filter(({ place }) => place.bottom < box.top - box.height || place.top > box.bottom + box.height)
      .toSorted((a, b) => a.seen - b.seen)
    for (const { slice, place } of far.slice(0, Math.max(0, this.#loaded.size - MAX_LOADED))) {
      slice.style.minHeight = `${place.height}px`
      slice.replaceChildren()
      this.#loaded.delete(slice)
    }
  }
}

async function search(form: HTMLFormElement): Promise<void> {
  const place = document.querySelector("[data-found]")
  const words = String(new FormData(form).get("words") ?? "")
  const answer = await fetch(`${form.dataset.find}?words=${encodeURIComponent(words)}`).catch(() => undefined)
  place?.replaceChildren(fragment(answer?.ok ? await answer.text() : "<p>The search failed. Load the page again.</p>"))
}
