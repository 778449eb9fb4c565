/** Shows the parts of a turn below a chart when the user points at it or uses the arrow keys. */

export function listenToCharts(): void {
  document.addEventListener("pointermove", ({ target }) => {
    if (target instanceof SVGRectElement && target.classList.contains("slice")) showReadout(target)
  })
  document.addEventListener("keydown", (event) => {
    const chart = document.activeElement?.closest?.("[data-chart]")
    if (!chart || (event.key !== "ArrowLeft" && event.key !== "ArrowRight")) return
    const slices = [...chart.querySelectorAll<SVGRectElement>("rect.slice")]
    const now = slices.findIndex((slice) => slice.classList.contains("chosen"))
    const step = event.key === "ArrowRight" ? 1 : -1
    const next = now < 0 ? (step > 0 ? 0 : slices.length - 1) : Math.min(slices.length - 1, Math.max(0, now + step))
    event.preventDefault()
    const slice = slices[next]
    if (slice) showReadout(slice)
  })
}

function showReadout(slice: SVGRectElement): void {
  if (slice.classList.contains("chosen")) return
  const figure = slice.closest("figure")
  const readout = figure?.querySelector("[data-readout]")
  if (!figure || !readout) return
  figure.querySelector("rect.chosen")?.classList.remove("chosen")
  slice.classList.add("chosen")
  readout.textContent = slice.querySelector("title")?.textContent ?? ""
}
