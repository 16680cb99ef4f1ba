"use strict";
for (const t of document.querySelectorAll("table.sorts")) {
  const body = t.tBodies[0], rows = [...body.rows], heads = [...t.tHead.rows[0].cells];
  const value = (r, i) => r.cells[i].dataset.v ?? r.cells[i].textContent;
  heads.forEach((h, i) => {
    const b = document.createElement("button");
    b.type = "button"; b.title = "sort by this column";
    b.append(...h.childNodes); h.append(b);
    b.onclick = () => {
      const was = h.getAttribute("aria-sort"), up = was !== "ascending";
      heads.forEach(o => o.removeAttribute("aria-sort"));
      if (was === "descending") { body.append(...rows); return; }
      h.setAttribute("aria-sort", up ? "ascending" : "descending");
      body.append(...[...rows].sort((x, y) => {
        const a = value(x, i), c = value(y, i);
        if (a === "" || c === "") return (a === "") - (c === "");
        const n = a - c, s = n === n ? n : a.localeCompare(c, "en", {numeric: true});
        return up ? s : -s;
      }));
    };
  });
}
const cue = () => { for (const s of document.querySelectorAll(".scroll")) s.classList.toggle("more", s.scrollWidth > s.clientWidth + 2); };
cue(); addEventListener("resize", cue); document.addEventListener("toggle", cue, true);
