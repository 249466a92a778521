"use strict";
/* The releases that hold every word of the search. Text is read and elements are hidden; nothing is written into the page but
   a count. */
{
  const field = document.querySelector("[data-search]"), told = document.querySelector("[data-found]");
  const plain = text => text.normalize("NFKD").replace(/\p{M}/gu, "").toLocaleLowerCase();
  const lines = [...document.querySelectorAll("[data-line]")].map(line => [line, plain(line.textContent)]);
  const show = () => {
    const wanted = plain(field.value).split(/\s+/u).filter(Boolean);
    let many = 0;
    for (const [line, text] of lines) {
      line.hidden = !wanted.every(word => text.includes(word));
      many += line.hidden ? 0 : 1;
    }
    told.textContent = wanted.length ? told.dataset.found.replace("{n}", many).replace("{of}", lines.length) : "";
  };
  if (field) {
    field.addEventListener("input", show);
    document.documentElement.classList.add("live");
    show();
  }
}
