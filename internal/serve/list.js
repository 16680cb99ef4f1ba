"use strict";
(() => {
  const rows = [...document.querySelectorAll("table.runs tbody tr")];
  const texts = rows.map(r => r.textContent.toLowerCase());
  const q = document.getElementById("q"), count = document.getElementById("count");
  const boxes = [...document.querySelectorAll("table.runs input[type=checkbox]")];
  const chosen = document.getElementById("chosen"), button = document.querySelector("#choose button");
  const most = Number(button.dataset.most);
  const all = count.textContent;
  const began = q.value;
  q.addEventListener("input", () => {
    const words = q.value.toLowerCase().split(/\s+/).filter(w => w);
    let n = 0;
    rows.forEach((r, i) => {
      const fits = q.value === began || words.every(w => texts[i].includes(w));
      r.hidden = !fits;
      if (fits) n++;
    });
    count.textContent = q.value === began ? all : n + " of the listed runs fit.";
  });
  const tell = () => {
    const n = boxes.filter(b => b.checked).length;
    chosen.textContent = n === 0 ? "Choose two to " + most + "." : n + " chosen" + (n > most ? ", at most " + most + " are compared." : ".");
    button.disabled = n > most || n === 1;
  };
  boxes.forEach(b => b.addEventListener("change", tell));
  tell();
})();
