"""Releases of areas of all levels that are written to files: counted, measured and put together some areas at a time.

* `counting`: Exact counts of some areas of a level, from the cubes of the slices in which they are read
* `known`: Numbers of areas that have no noise, beside the exact totals from which they follow
* `measuring`: The measured numbers of areas, with their noise, and the files that hold them
* `ordered`: A tree whose areas follow each other depth first, and the numbers that each area has
* `passes`: The two passes of least squares over areas that are never in memory together
* `printing`: The rows of tables of areas, some areas at a time
* `publishing`: A quote of areas carried out on its cubes and written down in files
* `reading`: What a document and its files say of areas, and their measured numbers, some at a time
* `scratch`: Numbers of the areas of one level on the disk, beside the few that need more than 64 bits
* `verifying`: Tables of areas in files recomputed from the measured numbers in files
* `whole`: Whole numbers of areas in files, all areas in some wider areas at a time
"""
